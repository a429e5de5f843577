import { classifyFileFailure } from "../../store/file-failure.ts";
import type { ReleaseRecords } from "./records.ts";
import type { Release, ReleaseAddress } from "./release.ts";

export interface FirstContentParts {
  readonly records: Pick<ReleaseRecords, "claim" | "format">;
  readonly onUnwritten: (record: string, error: unknown) => void;
}

interface FirstRequest {
  readonly address: ReleaseAddress;
  /** The ledger of its namespace: a release without one counts as a ledger that was lost. */
  readonly entry: { begin(): Promise<void> };
}

/** Makes this the first content of a release; returns what another process saw first, if one did. */
export async function claimFirst(
  { records, onUnwritten }: FirstContentParts,
  { address, entry }: FirstRequest,
  value: Release,
  confirmedAt: Date,
): Promise<Release | undefined> {
  try {
    await entry.begin();
    return await records.claim(address, { value, confirmedAt });
  } catch (error) {
    // A disk that is full must not turn a good answer into a failure.
    if (classifyFileFailure(error) === undefined) throw error;
    onUnwritten(records.format(address), error);
    return undefined;
  }
}
