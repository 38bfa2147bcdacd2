/** The code for pictures. The browser loads this script with the first picture. */
export {
  FilePictures,
  OpenPictures,
  TablePictures,
} from "./table_pictures.tsx";
export { sortDropped } from "../pictures/dropped.ts";
export { onlyPictures, PicturesPanel } from "../pictures/panel.tsx";
export { PictureSet } from "../pictures/picture_set.ts";
