/** The smallest build of the library that reads and writes workbooks. */
import * as module from "@e965/xlsx";

/** The build is CommonJS with one default export; its types differ. */
export const { CFB, read, SSF, utils, write } =
  (module as unknown as { default: typeof module }).default;
