/** Loads the code for pictures. */
export const loadPictures = () => import("./pictures.ts");
