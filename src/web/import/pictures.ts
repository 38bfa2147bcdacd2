/** The code for pictures, in one script that is loaded for the first ones. */
export {
  FilePictures,
  OpenPictures,
  TablePictures,
} from "./table_pictures.tsx";
export { sortDropped } from "../pictures/dropped.ts";
export { onlyPictures, PicturesPanel } from "../pictures/panel.tsx";
export { PictureSet } from "../pictures/picture_set.ts";
