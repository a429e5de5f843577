import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { Authentication } from "../access/authentication.ts";
import type { ArchiveResponseLimits } from "../http/archive-response.ts";
import type { PublicAddress } from "./public-address.ts";

/** Parts that every protocol needs beside its mirror. */
export interface ProtocolParts {
  readonly authentication: Authentication;
  readonly publicAddress: PublicAddress;
  readonly audit: AuditLog;
  readonly limits: ArchiveResponseLimits;
}
