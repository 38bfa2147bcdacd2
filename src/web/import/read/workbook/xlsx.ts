/** The reader and writer of workbooks; its smallest build. */
import * as module from "@e965/xlsx";

/** That build is of CommonJS, where all is in one object; its types are not. */
export const { CFB, read, SSF, utils, write } =
  (module as unknown as { default: typeof module }).default;
