import type { Sha256 } from "../../address/hash.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";

/** Where archives are looked for before their origin is asked. */
export interface NearestOrigin {
  /** Undefined for what it has not got, or cannot give now. */
  open(sha256: Sha256): Promise<OriginArchive | undefined>;
  /** What it gave was another archive. */
  distrust(sha256: Sha256): void;
}
