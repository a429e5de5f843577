/**
 * Result of one item. `ahead`: both have it, and the directory's was changed
 * more often. `differs`: both have one, and the one at the destination stays.
 * `bad`: it is invalid, and stays.
 */
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
