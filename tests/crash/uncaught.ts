/** At SIGUSR2 the process throws an uncaught error. */
Deno.addSignalListener("SIGUSR2", () => {
  Promise.reject(new Error("on purpose"));
});
