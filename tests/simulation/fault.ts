/** A fault that may last for a while. */
export interface Fault {
  /** A phrase such as "hosts refuse connections". */
  readonly name: string;
  /** Where the fault is; one of ours must not count against a seller. */
  readonly of: "ours" | "network";
  /** Begins the fault; the returned function ends it. */
  begin(): () => void;
}
