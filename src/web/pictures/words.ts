/**
 * Words in the names of picture files. Some words name the view of the product,
 * in English, German, Swedish, French, Spanish, Italian, Polish, Dutch or
 * Danish.
 */

/**
 * The views of a product in the order in which a shop shows them; in lower case
 * and without accents.
 */
const VIEWS: readonly string[] = [
  // the main picture, or the front
  "main, front, frontal, cover, hero, primary, principal, title, haupt, hauptbild, titelbild, vorne, vorn, vorder, vorderseite, vorderansicht, frontansicht, framsida, framsidan, fram, framifran, huvudbild, principale, avant, face, devant, recto, frente, delantera, portada, davanti, fronte, frontale, copertina, principale, przod, glowne, glowny, voor, voorkant, voorzijde, hoofd, hoofdfoto, forside, forfra, hovedbillede",
  // the back
  "back, rear, backside, behind, hinten, hinter, hinterseite, ruckseite, rueckseite, ruckansicht, rueckansicht, baksida, baksidan, bak, bakifran, arriere, dos, verso, derriere, atras, trasera, trasero, dorso, reverso, dietro, retro, tyl, achter, achterkant, achterzijde, bagside, bagfra",
  // a side
  "side, left, right, seite, seitlich, seitenansicht, links, rechts, sida, vanster, hoger, cote, profil, gauche, droite, lado, lateral, perfil, izquierda, derecha, lato, laterale, sinistra, destra, bok, lewo, lewa, prawo, prawa, zij, zijkant, zijaanzicht, venstre, hojre",
  // from above
  "top, above, oben, oberseite, draufsicht, uppifran, ovanifran, ovansida, dessus, arriba, superior, cima, sopra, alto, gora, boven, bovenkant, ovenfra, overside",
  // from below
  "bottom, underside, below, unten, unterseite, boden, undersida, underifran, dessous, abajo, inferior, fondo, sotto, dol, spod, onder, onderkant, bund",
  // the inside
  "inside, interior, open, innen, innenseite, offen, geoffnet, insida, inuti, oppen, interieur, ouvert, dentro, abierto, interno, aperto, wnetrze, srodek, binnen, binnenkant, indeni, aben",
  // a detail
  "detail, details, closeup, close, zoom, macro, makro, nah, nahaufnahme, detailansicht, detalj, detaljer, narbild, gros, detalle, detalles, dettaglio, dettagli, szczegol, detal, detaljer, naerbillede",
  // in use
  "lifestyle, mood, model, scene, use, ambiente, anwendung, getragen, stimmung, milieu, miljo, miljobild, modell, ambiance, modele, uso, ambientazione, modello, aranzacja, modelka, sfeer, sfeerfoto, gebruik, miljobillede",
  // the size
  "size, sizes, dimensions, measures, scale, masse, mass, abmessungen, grosse, groesse, matt, storlek, taille, mesures, medidas, tallas, dimensiones, misure, dimensioni, taglie, wymiary, rozmiar, maten, afmetingen, maat, mal, storrelse",
  // the package
  "box, package, packaging, pack, verpackung, karton, packung, forpackning, kartong, boite, emballage, carton, caja, embalaje, paquete, scatola, confezione, imballo, opakowanie, pudelko, doos, verpakking, aeske",
  // the label
  "label, energylabel, etikett, typenschild, energielabel, etiquette, etiqueta, etichetta, etykieta, etiket",
];

const RANK_OF_VIEW: ReadonlyMap<string, number> = new Map(
  VIEWS.flatMap((words, rank) =>
    words.split(", ").map((word) => [word, rank] as const)
  ),
);

/** Words without a meaning: words before a number, and marks of copies. */
const MEANINGLESS = new Set(
  "image, img, images, picture, pictures, pic, pics, photo, photos, foto, fotos, bild, bilder, view, ansicht, vue, vista, imagen, immagine, zdjecie, afbeelding, billede, no, nr, number, copy, kopie, kopia, copie, copia, large, small, web, final, edited, bearbeitet, hires, thumb, of, the, und, and"
    .split(", "),
);

/** Names that cameras and other programs give; their numbers have no meaning. */
const CAMERA =
  /^_?(?:image?|img|dscf?|dscn|dcim|pxl|gopr|mvimg|p|sam|cimg|hpim|imgp|scan)[-_ ]?\d{3}/;
const PROGRAM =
  /^(?:whatsapp|screenshot|bildschirmfoto|skarmbild|capture|signal-|photo-\d{4})/;

/** Converts a text to lower case without accents. */
export function foldedText(text: string): string {
  return text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "")
    .replaceAll("ß", "ss").replaceAll("ø", "o").replaceAll("ł", "l")
    .replaceAll("æ", "ae").replaceAll("œ", "oe").replaceAll("ı", "i");
}

/** The rank of the view that a folded word names; undefined for other words. */
export function rankOfView(word: string): number | undefined {
  return RANK_OF_VIEW.get(word);
}

/** Whether a folded word names neither a product nor a view. */
export function isMeaningless(word: string): boolean {
  return MEANINGLESS.has(word);
}

/** Whether a camera or program named the file. */
export function isNamedByCamera(name: string): boolean {
  const folded = foldedText(name);
  return CAMERA.test(folded) || PROGRAM.test(folded);
}
