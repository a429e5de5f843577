/** `ahead`: both say the same, which was changed more often in the directory. `differs`: both sides have one, and the one that was there stays. `bad`: it cannot be believed, and stays where it is. */
export type Outcome =
  | { readonly kind: "written" | "same" | "ahead" }
  | { readonly kind: "differs" | "bad"; readonly problem: string };

/** A record or an archive that is to be on the other side, too. */
export interface Carried {
  readonly kind: "record" | "archive";
  /** The record's key or the archive's SHA-256. */
  readonly name: string;
  /** Bytes; 0 for records. */
  readonly size: number;
  /** Done again it writes nothing. Throws what the bucket and the disk throw. */
  carry(): Promise<Outcome>;
}

export const written: Outcome = { kind: "written" };
export const same: Outcome = { kind: "same" };
