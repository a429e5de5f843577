import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { StoreUnusable } from "../errors/index.ts";
import { createDurably } from "./durable-file.ts";
import { stagingPath, type StoreLayout } from "./layout.ts";
import { readOwnFile } from "./own-file.ts";

/** The Ed25519 key that signs for the audit logs of this store; the first process that needs it makes it. Throws StoreUnusable, also when others can read the file. */
export async function openAuditKey(layout: StoreLayout): Promise<KeyObject> {
  const { auditKey, directory } = layout;
  try {
    const text = (await readOwnFile(auditKey)) ?? (await make(layout));
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === "ed25519") return key;
    throw new Error("it is not an Ed25519 key");
  } catch (error) {
    const reason = `${auditKey}: ${(error as Error).message}`;
    throw new StoreUnusable(directory, reason, { cause: error });
  }
}

async function make(layout: StoreLayout): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const text = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const staged = stagingPath(layout, "key");
  // Another process may have made one meanwhile.
  const isOurs = await createDurably(staged, layout.auditKey, text);
  return isOurs ? text : ((await readOwnFile(layout.auditKey)) ?? text);
}
