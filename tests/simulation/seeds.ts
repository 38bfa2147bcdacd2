/** Seeds that failed once, each with what it found; they are always played. */
export const FAILED_ONCE: readonly (readonly [seed: number, found: string])[] =
  [
    [780031, "the lease of a delivery began before its write waited"],
    [790086, "a lock of another program ended with a process of ours"],
    [790155, "a second stop of a process ended it at once"],
    [800299, "a connection that was idle for 27 s was used again"],
    [800476, "an answer counted that a process no longer received"],
    [1000696, "endpoints that time out were busy for longer than it waited"],
    [2000831, "an upload was as old as a clock said that had been set"],
    [5001417, "the mark of an image out of memory was lost to the next one"],
    [6002304, "a host gave up while the process stood still"],
    [9103707, "an endpoint gave up while the process stood still"],
    [9105828, "a start released what another process had just claimed"],
    [9106051, "a rollback that failed kept the lock from another process"],
    [9107262, "a probe that the image store never answers takes 15 s"],
    [9107595, "a wait takes as long as a read of its world"],
    [9200000, "metrics told what the process used"],
    [9200164, "events of one millisecond have no order between processes"],
    [31415468, "a backup was made while a seller was being removed"],
  ];
