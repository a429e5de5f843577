import type { Sha256 } from "../../address/hash.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";

/** Cache tier that is asked for archives before their origin. */
export interface NearestOrigin {
  /** Undefined for what it has not got, or cannot give now. */
  open(sha256: Sha256): Promise<OriginArchive | undefined>;
  /** Reports that it returned another archive. */
  distrust(sha256: Sha256): void;
}
