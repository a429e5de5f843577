import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { RecordStore } from "./record-store.ts";

/** 32 bytes in base64url. */
const shape = z.object({ secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/) });

/** Reads the secret of signed archive URLs, which all daemons on a database share; makes it where there is none. */
export async function openArchiveUrlKey(
  records: Pick<RecordStore, "change">,
): Promise<Buffer> {
  let secret = "";
  await records.change(
    ["secrets", "archive-urls"],
    (body) => shape.parse(body),
    (before) => {
      const key = before ?? { secret: randomBytes(32).toString("base64url") };
      ({ secret } = key);
      return key;
    },
  );
  return Buffer.from(secret, "base64url");
}
