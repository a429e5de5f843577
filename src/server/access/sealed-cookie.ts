import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
} from "node:crypto";

interface Expiring {
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** The first one seals; every one opens. */
interface SealingKeys {
  readonly secrets: readonly Buffer[];
}

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** `__Host-`: no other host and no path of this one sets or gets it, and it never goes without TLS (RFC 6265bis, 4.1.3). */
const attributes = "Path=/; Secure; HttpOnly; SameSite=Lax";

/**
 * What a browser keeps for the mirror and can neither read nor change. `purpose`
 * and the cookie's name go into the key, so that no cookie passes for another.
 */
export class SealedCookie<T extends Expiring> {
  readonly #name: string;
  readonly #purpose: string;
  readonly #keys: SealingKeys;

  constructor(name: string, purpose: string, keys: SealingKeys) {
    this.#name = `__Host-provender-${name}`;
    this.#purpose = purpose;
    this.#keys = keys;
  }

  /** A Set-Cookie header. */
  set(value: T, now: number): string {
    const [secret] = this.#keys.secrets;
    if (secret === undefined) throw new Error("no key to seal with");
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.#keyOf(secret), nonce);
    const text = JSON.stringify(value);
    const parts = [nonce, sealing.update(text), sealing.final()];
    const sealed = Buffer.concat([...parts, sealing.getAuthTag()]);
    const seconds = Math.ceil((value.expires - now) / 1000);
    return `${this.#name}=${sealed.toString("base64url")}; Max-Age=${seconds}; ${attributes}`;
  }

  /** A Set-Cookie header, too. */
  clear(): string {
    return `${this.#name}=; Max-Age=0; ${attributes}`;
  }

  /** From a Cookie header; undefined when there is none that still counts. */
  find(header: string | undefined, now: number): T | undefined {
    const own = (header ?? "")
      .split(/; */)
      .find((one) => one.startsWith(`${this.#name}=`));
    if (own === undefined) return undefined;
    const sealed = Buffer.from(own.slice(this.#name.length + 1), "base64url");
    const value = this.#keys.secrets
      .map((secret) => open(this.#keyOf(secret), sealed))
      .find((text) => text !== undefined);
    const found = value === undefined ? undefined : (JSON.parse(value) as T);
    return found !== undefined && now < found.expires ? found : undefined;
  }

  #keyOf(secret: Buffer): Uint8Array {
    const use = `provender ${this.#name} ${this.#purpose}`;
    return new Uint8Array(hkdfSync("sha256", secret, "", use, 32));
  }
}

/** Undefined for what was not sealed with this key. */
function open(key: Uint8Array, sealed: Buffer): string | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const nonce = sealed.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, key, nonce, {
    authTagLength: tagBytes,
  });
  opening.setAuthTag(sealed.subarray(-tagBytes));
  try {
    const text = opening.update(sealed.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, opening.final()]).toString();
  } catch {
    return undefined;
  }
}
