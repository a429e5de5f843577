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
import { findIssuer, type OpenIdIssuer } from "./openid-issuer.ts";

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
  /** Signs archive URLs. */
  readonly secret: Buffer;
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
    if (!this.isOn) return filename;
    const { secret, archiveUrls } = this.#parts;
    const expires = Date.now() + archiveUrls;
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
    // The time of the look-up reveals at most a little of the digest, and nothing of the token.
    const known = tokens.get(digest.toString("hex"));
    if (known === undefined) return findIssuer(issuers, token).verify(token);
    const isValid = ({ expires = Infinity }) => Date.now() < expires;
    const valid = known.find(isValid);
    if (valid === undefined) throw failure("token-refused", "it has expired");
    return valid.name;
  }

  #admitTicket(signed: SignedPath): string | undefined {
    if (!isSignedBy(this.#parts.secret, signed))
      throw failure(
        "archive-url-refused",
        "this mirror did not sign it as it is",
      );
    const { expires, holder } = signed.ticket;
    if (Date.now() >= expires)
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
