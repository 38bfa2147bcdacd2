/**
 * Mistakes that are planted in the page's modules, one at a time, to prove that
 * the simulation of files finds such mistakes.
 */
import type { PlantedFault } from "../simulation/planted_faults.ts";

const WEB = "web/import/";

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  // Numbers and units.
  {
    name: "a comma before two digits separates thousands",
    file: "web/lib/numbers.ts",
    from: 'return plain.replaceAll(".", "").replace(",", ".");',
    to: 'return plain.replaceAll(".", "").replace(",", "");',
  },
  {
    name: "a number ends at its first space",
    file: "web/lib/numbers.ts",
    from:
      'const plain = withoutMark(marks, whole).replace(/[\\s\\u00a0\\u202f\'’]/g, "");',
    to:
      "const plain = withoutMark(marks, whole).trim().split(/[ \\u00a0]/)[0];",
  },
  {
    name: "a kilogram has a hundred grams",
    file: "web/lib/numbers.ts",
    from: "  kg: 1_000,",
    to: "  kg: 100,",
  },
  {
    name: "a pound is half a kilogram",
    file: "web/lib/numbers.ts",
    from: "  lb: 453.59237,",
    to: "  lb: 500,",
  },
  {
    name: "the unit in a weight's header is ignored",
    file: "web/lib/numbers.ts",
    from: "  return weightUnitIn(lowerCaseWords(header));",
    to: '  return lowerCaseWords(header).length > 9 ? "kg" : "g";',
  },
  {
    name: "cents are read as whole amounts",
    file: "web/lib/numbers.ts",
    from: "  return `${digits.slice(0, -2)}.${digits.slice(-2)}${",
    to: "  return `${digits}${",
  },
  {
    name: "pounds sterling are taken for euros",
    file: "web/lib/numbers.ts",
    from: '  "£": "GBP",',
    to: '  "£": "EUR",',
  },
  {
    name: "the decimal separator of the table wins over that of the column",
    file: `${WEB}columns/spreadsheet.ts`,
    from:
      "isOwn\n      ? separator\n      : separator || decimalSeparatorOfTable(rows),",
    to: '",",',
  },
  // Columns.
  {
    name: "only one of several image columns is used",
    file: `${WEB}columns/spreadsheet.ts`,
    from: "isRepeatable(target) || chosen.get(target) === i ? target",
    to: "chosen.get(target) === i ? target",
  },
  {
    name: "ambiguous columns of a field cause no question",
    file: `${WEB}check/column_questions.ts`,
    from:
      "    if (!columns.includes(used) || different === undefined || isKnown) {",
    to: "    if (columns.length > 0) {",
  },
  {
    name: "a synonym belongs to the wrong field",
    file: `${WEB}columns/headers.ts`,
    from: "manufacturer name, brand name, marke,",
    to: "manufacturer name, brand name,",
    also: { from: '"mpn, manufacturer', to: '"mpn, marke, manufacturer' },
  },
  {
    name: "tags are read as categories",
    file: `${WEB}columns/headers.ts`,
    from: '"id, tags, cost,',
    to: '"id, cost,',
    also: {
      from: '"categories, kategorie,',
      to: '"categories, tags, kategorie,',
    },
  },
  {
    name: "a currency guessed from values causes no question",
    file: `${WEB}check/questions.ts`,
    from: "  currencyQuestion,\n  codeQuestion,\n  dash",
    to: "  codeQuestion,\n  dash",
  },
  {
    name: "amounts of VAT cause no question",
    file: `${WEB}check/questions.ts`,
    from: "  taxQuestion,\n  skuQuestion",
    to: "  skuQuestion",
  },
  {
    name: "a price for many pieces causes no question",
    file: `${WEB}check/price_questions.ts`,
    from: "if (pieces === 1) return [];",
    to: "if (pieces > 0) return [];",
  },
  {
    name: "a label is read as an image of the product",
    file: `${WEB}columns/guesses.ts`,
    from: 'return namesOtherPicture(header) ? null : "images";',
    to: 'return "images";',
  },
  {
    name: "categories are split at commas",
    file: `${WEB}columns/spreadsheet.ts`,
    from: "    : commas\n    ? ",
    to: "    : !commas\n    ? ",
  },
  {
    name: "HTML entities stay in categories",
    file: `${WEB}columns/spreadsheet.ts`,
    from: 'target === "categories" ? withoutEntities(plain) : plain;',
    to: "plain;",
  },
  {
    name: "category numbers are read as names",
    file: `${WEB}columns/spreadsheet.ts`,
    from:
      'return parts.every((part) => DATABASE_KEYS.test(part)) ? "" : target;',
    to: "return target;",
  },
  {
    name: "no and yes are swapped",
    file: `${WEB}read/words.ts`,
    from: 'return word === undefined ? null : word === "active";',
    to: 'return word === undefined ? null : word !== "active";',
  },
  {
    name: "the sale price is read as the former price",
    file: `${WEB}columns/spreadsheet.ts`,
    from: 'values.set("price", [price]);',
    to: "",
  },
  {
    name: "HTML tags stay in descriptions",
    file: `${WEB}columns/spreadsheet.ts`,
    from: "      return isHtml(text) ? textOfHtml(text) : text;\n  }",
    to: "      return text;\n  }",
  },
  // Shops.
  {
    name: "untracked stock is read as 0",
    file: `${WEB}gather.ts`,
    from: 'isUntracked(cells) ? cells.with(stock, "") : cells',
    to: "cells",
  },
  {
    name: "an inactive sale is read as active",
    file: `${WEB}gather.ts`,
    from: 'cells[price] !== "" && yesOrNo(cells[isOn]) === false;',
    to: 'cells[price] !== "" && yesOrNo(cells[isOn]) === null;',
  },
  {
    name: "a WooCommerce variation does not inherit text",
    file: `${WEB}shops/woocommerce.ts`,
    from: "for (const column of inherited) cells[column] ||= whole[column];",
    to: "",
  },
  {
    name: "the columns of WooCommerce are shifted by one",
    file: `${WEB}shops/woocommerce.ts`,
    from: "    ...names.map((name, i) => [header[i], name]),",
    to: "    ...names.map((name, i) => [header[i + 1], name]),",
  },
  {
    name: "Shopify images go only to the first variant",
    file: `${WEB}shops/shopify.ts`,
    from: 'cells[image] = unique([own, ...pictures]).join(" ");',
    to: "cells[image] = own;",
  },
  {
    name: "the root category of Magento is kept",
    file: `${WEB}shops/magento.ts`,
    from: "const [, ...names] = path",
    to: "const [...names] = path",
  },
  // Reading.
  {
    name: "single quotation marks around values are kept",
    file: `${WEB}read/csv.ts`,
    from:
      'const isQuoted = (cell: string) =>\n    cell.length > 1 && cell.startsWith("\'")',
    to:
      'const isQuoted = (cell: string) =>\n    cell.length > 999 && cell.startsWith("\'")',
  },
  {
    name: "hidden rows are read without a question",
    file: `${WEB}intake.ts`,
    from: "hidden !== null || hiddenRows.length === 0",
    to: "hidden !== null || hiddenRows.length >= 0",
  },
  {
    name: "doubled quotation marks stay doubled",
    file: `${WEB}read/csv.ts`,
    from: "text.slice(at + 1, quoted.at).replaceAll(quote + quote, quote)",
    to: "text.slice(at + 1, quoted.at)",
  },
  {
    name: "the row below a title is always the header",
    file: `${WEB}read/csv.ts`,
    from: '      if (row.some((value) => value !== "")) {',
    to: '      if (row.every((value) => value !== "")) {',
  },
  {
    name: "DOS encodings are read as Windows encodings",
    file: `${WEB}read/encodings.ts`,
    from: "likely: isClear ? 1 : Math.max(2, 1 + rivals.length),",
    to: "likely: 1,",
    also: {
      from:
        "const upper = upperOf(encoding);\n  if (upper === undefined) return",
      to: "const upper = upperOf(encoding);\n  if (encoding.length > 0) return",
    },
  },
  {
    name: "a percentage in a workbook is read as a fraction",
    file: `${WEB}read/workbook/cells.ts`,
    from: 'if (digits.includes("%")) return `${plain(value * 100)}%`;',
    to: 'if (digits.includes("%")) return `${plain(value)}%`;',
  },
];
