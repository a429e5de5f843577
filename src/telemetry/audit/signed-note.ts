import {
  createPublicKey,
  hash,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { sha256Of } from "./chain.ts";

/** C2SP's signed-note, with one signature of type Ed25519. */
const ed25519 = Buffer.from([1]);

/** The name under which an Ed25519 key signs, made from the key. */
export function signerName(key: KeyObject): string {
  return `provender/${sha256Of(rawPublicKey(key)).slice(0, 16)}`;
}

/** What tools that verify signed notes want: name, key id and public key. */
export function formatVerifierKey(key: KeyObject): string {
  const encoded = Buffer.concat([ed25519, rawPublicKey(key)]);
  const name = signerName(key);
  return `${name}+${keyId(key).toString("hex")}+${encoded.toString("base64")}`;
}

/** `text` ends with a newline. */
export function signNote(text: string, key: KeyObject): string {
  const signature = sign(null, Buffer.from(text), key);
  const signed = Buffer.concat([keyId(key), signature]).toString("base64");
  return `${text}\n\u2014 ${signerName(key)} ${signed}\n`;
}

/** The text of a note that the key signed; undefined for any other. */
export function openNote(note: string, key: KeyObject): string | undefined {
  const end = note.lastIndexOf("\n\n");
  const text = note.slice(0, end + 1);
  const found = /^\u2014 (\S+) (\S+)\n$/.exec(note.slice(end + 2));
  if (end < 0 || found?.[1] !== signerName(key)) return undefined;
  const signed = Buffer.from(found[2] ?? "", "base64");
  const isOwn = signed.subarray(0, 4).equals(keyId(key));
  const signature = signed.subarray(4);
  const isGood = verify(null, Buffer.from(text), publicOf(key), signature);
  return isOwn && isGood ? text : undefined;
}

function keyId(key: KeyObject): Buffer {
  const name = Buffer.from(`${signerName(key)}\n`);
  const encoded = Buffer.concat([name, ed25519, rawPublicKey(key)]);
  return hash("sha256", encoded, "buffer").subarray(0, 4);
}

function publicOf(key: KeyObject): KeyObject {
  return key.type === "public" ? key : createPublicKey(key);
}

function rawPublicKey(key: KeyObject): Buffer {
  const { x = "" } = publicOf(key).export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}
