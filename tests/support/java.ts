/** For programs that take a second: they are not compiled to the last. */
export const QUICK_JAVA: readonly string[] = [
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
];
