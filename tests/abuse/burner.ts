/** A thread that takes a share of a core and does nothing else. */
const PERIOD_MS = 10;

self.onmessage = async ({ data: share }: MessageEvent<number>) => {
  for (;;) {
    const end = performance.now() + PERIOD_MS * share;
    while (performance.now() < end);
    await new Promise((done) => setTimeout(done, PERIOD_MS * (1 - share)));
  }
};
