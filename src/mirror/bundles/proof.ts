import { z } from "zod";
import type { ReleaseProof } from "../releases/release.ts";
import type { ReleaseEvidence } from "../releases/verdict.ts";

const shape = z.strictObject({
  document: z.string(),
  signature: z.base64().nullable(),
  keys: z.array(z.string()),
});

/**
 * Formats the verification material of a release, as the origin published it.
 * The verdict stays behind with its time and policy: the receiver verifies for
 * itself.
 */
export function formatProof({
  document,
  signature,
  keys,
}: ReleaseProof): Buffer {
  const text = JSON.stringify(
    {
      document: Buffer.from(document).toString("utf8"),
      signature:
        signature === undefined
          ? null
          : Buffer.from(signature).toString("base64"),
      keys,
    },
    null,
    2,
  );
  return Buffer.from(`${text}\n`);
}

export function parseProof(bytes: Uint8Array): ReleaseEvidence {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const { document, signature, keys } = shape.parse(
    JSON.parse(text.decode(bytes)),
  );
  return {
    document: Buffer.from(document, "utf8"),
    signature:
      signature === null ? undefined : Buffer.from(signature, "base64"),
    keys,
  };
}

/** Bytes of the largest proof that the limits of its parts allow, in JSON. */
export function largestProof(limits: {
  readonly checksums: number;
  readonly signature: number;
  readonly keys: number;
}): number {
  return 2 * (limits.checksums + limits.signature + limits.keys);
}
