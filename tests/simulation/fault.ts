/** Something that may fail for a while. */
export interface Fault {
  /** As in "hosts refuse connections". */
  readonly name: string;
  /** Whose fault it is; one of ours must not be charged to a seller. */
  readonly of: "ours" | "network";
  /** Begins; the returned function ends it. */
  begin(): () => void;
}
