import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { failure } from "../../errors/index.ts";
import { pathOf } from "../http/request-context.ts";
import {
  formatTicket,
  isSignedBy,
  parseSignedPath,
  type SignedPath,
} from "./archive-ticket.ts";
import {
  findIssuer,
  isJsonWebToken,
  type OpenIdIssuer,
} from "./openid-issuer.ts";

interface ClientToken {
  readonly name: string;
  /** Milliseconds since 1970; the token is void from then on. */
  readonly expires: number | undefined;
}

/** Rules of access; without tokens every client may ask. */
interface AuthenticationRules {
  /** By their SHA-256 in lower-case hexadecimal digits, all that is known of them; the same one may have several entries. */
  readonly tokens: ReadonlyMap<string, readonly ClientToken[]>;
  /** Their access tokens are good beside the configured ones. */
  readonly issuers: readonly OpenIdIssuer[];
}

interface AuthenticationParts {
  /** Milliseconds for which a signed archive URL lives. */
  readonly archiveUrls: number;
  /** SHA-256 of the token by which commands of this machine ask for /metrics. */
  readonly operator: Buffer;
  /** Secrets for archive URLs; the first one signs. */
  readonly keys: { readonly secrets: readonly Buffer[] };
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Paths for clients without a token, for setting them up, and for monitoring the daemon. */
const openPaths: ReadonlySet<string> = new Set([
  "/",
  "/ca.pem",
  "/healthz",
  "/readyz",
  "/.well-known/terraform.json",
]);

/** Clients have no token before they know which services there are. */
const registryDiscovery = /^\/registry\/[^/]+\/\.well-known\/terraform\.json$/;

/** Decides whether a request may be looked at: everything needs a token, except what is listed here. */
export class Authentication {
  readonly #parts: AuthenticationParts;
  #rules: AuthenticationRules;

  constructor(rules: AuthenticationRules, parts: AuthenticationParts) {
    this.#rules = rules;
    this.#parts = parts;
  }

  get isOn(): boolean {
    const { tokens, issuers } = this.#rules;
    return tokens.size > 0 || issuers.length > 0;
  }

  replaceRules(rules: AuthenticationRules): void {
    this.#rules = rules;
  }

  admit(
    request: Pick<IncomingMessage, "url" | "headers">,
  ): Promise<string | undefined> | string | undefined {
    const path = pathOf(request.url ?? "");
    if (openPaths.has(path) || registryDiscovery.test(path)) return undefined;
    const signed = parseSignedPath(path);
    if (signed !== undefined) return this.#admitTicket(signed);
    return this.#admitToken(path, request.headers.authorization);
  }

  /** Returns the relative path of a file for a client without a token. `folder` is a path that ends in a slash. */
  locate(folder: string, filename: string, holder: string | undefined): string {
    const [secret] = this.#parts.keys.secrets;
    if (!this.isOn || secret === undefined) return filename;
    const { now, archiveUrls } = this.#parts;
    const expires = Math.ceil(now() + archiveUrls);
    const ticket = { expires, holder: holder ?? "" };
    return `${formatTicket(secret, folder + filename, ticket)}/${filename}`;
  }

  #admitToken(
    path: string,
    header: string | undefined,
  ): Promise<string> | string | undefined {
    const token = parseBearer(header);
    const digest = hash("sha256", token, "buffer");
    const { operator } = this.#parts;
    if (path === "/metrics" && timingSafeEqual(operator, digest))
      return undefined;
    const { tokens, issuers } = this.#rules;
    const now = this.#parts.now();
    // The time of the look-up reveals at most a little of the digest, and nothing of the token.
    const known = tokens.get(digest.toString("hex"));
    if (known !== undefined) return findValid(known, now).name;
    if (issuers.length === 0 || !isJsonWebToken(token))
      throw failure("token-refused", "it is not one that this mirror knows");
    return findIssuer(issuers, token).verify(token, new Date(now));
  }

  #admitTicket(signed: SignedPath): string | undefined {
    const { keys, now } = this.#parts;
    if (!isSignedBy(keys.secrets, signed))
      throw failure(
        "archive-url-refused",
        "this mirror did not sign it as it is",
      );
    const { expires, holder } = signed.ticket;
    if (now() >= expires)
      throw failure("archive-url-refused", "it has expired");
    return holder === "" ? undefined : holder;
  }
}

/** The token of `Authorization: Bearer TOKEN` (RFC 6750, 2.1). */
function parseBearer(header: string | undefined): string {
  const [, token] = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? "") ?? [];
  if (token === undefined) throw failure("token-needed");
  return token;
}

function findValid(entries: readonly ClientToken[], now: number): ClientToken {
  const valid = entries.find(({ expires = Infinity }) => now < expires);
  if (valid === undefined) throw failure("token-refused", "it has expired");
  return valid;
}
