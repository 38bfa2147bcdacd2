/** Seeds that failed before, each with its finding; they are always played. */
export const FAILED_ONCE: readonly (readonly [seed: number, found: string])[] =
  [
    [2007180, "the generator cut a text at the end of an entity"],
    [2008027, "Polish letters were French ones in Windows-1252"],
    [2008664, "a price and its cents were a price and a former price"],
    [5002168, "a price and its cents were a price and a weight with its unit"],
    [5474819, "a price of one piece disagreed with that of 100 pieces"],
    [5475495, "an amount of VAT was a VAT rate beside shares"],
    [5475888, "a price of one piece disagreed with that of 100 pieces"],
    [5478235, "an amount of VAT that is 0 was a VAT rate beside shares"],
    [61297585, "Polish letters were signs, as a brand is German"],
    [61298697, "a price and its cents were a price and a former price"],
    [61300947, "Polish letters were signs, as a brand is German"],
    [63010243, "the semicolon of an entity separated categories"],
    [61437129, "the currency was that of a price column no longer used"],
  ];
