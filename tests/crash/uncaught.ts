/** At SIGUSR2 the process fails where nothing catches it. */
Deno.addSignalListener("SIGUSR2", () => {
  Promise.reject(new Error("on purpose"));
});
