import type {
  ErrorCode,
  KeyRefused,
  NothingAdmitted,
  OriginNotServed,
  PolicyDenied,
  ProvenderError,
  TokenRefused,
  TooYoung,
} from "../../errors/index.ts";

type Phrase = string | ((error: never) => string);

const slow = "The origin registry is not answering";
const unusable = "The origin registry gave an unusable answer";
const store = "The mirror's store cannot be used now";
const busy = "The mirror has too much to do, try again shortly";
const malformed = "The request is not well formed";
const notFound = "The origin registry says that this does not exist";

const whyKeysAreRefused = {
  revoked: "was revoked",
  "not-pinned": "is not pinned",
  unknown: "is not known for this provider",
} as const satisfies Record<KeyRefused["reason"], string>;

/**
 * Reason phrases of refusals that clients meet; other errors belong to
 * commands.
 */
const phrases: Readonly<Partial<Record<ErrorCode, Phrase>>> = {
  "malformed-address": "This is no address of a provider, module or version",
  "malformed-request": malformed,
  "uri-too-long": "The URL is longer than any address",
  "method-not-allowed": "Only GET and HEAD are served",
  "range-not-satisfiable": "The range is not within the archive",
  "too-many-requests": "This client asks too often, try again shortly",
  "token-needed":
    "This mirror wants a token, set one in a credentials block or run login",
  "token-refused": ({ reason }: TokenRefused) =>
    `The token is refused because ${reason}`,
  "archive-url-refused":
    "The archive's URL has expired or was changed, run init again",
  "no-such-page": "There is nothing at this path",
  "not-found": notFound,
  "not-stored": "Not stored, and this mirror is offline",
  "origin-not-served": notServed,
  "origin-not-served-fall-through": notServed,
  "signature-missing": "Refused, its registry publishes no signature or key",
  "signature-refused": "Refused, its signature is not acceptable",
  "nothing-to-verify":
    "Nothing here that a client could verify, use network_mirror instead",
  "key-refused": ({ reason, fingerprint }: KeyRefused) =>
    fingerprint === "none"
      ? "Held back by this mirror, it is not signed"
      : `Held back by this mirror, its signing key ${fingerprint} ${whyKeysAreRefused[reason]}`,
  "release-conflict":
    "Refused, its registry offers other content than was seen first",
  "policy-denied": ({ rule }: PolicyDenied) =>
    `Denied by ${rule} of this mirror`,
  "too-young": ({ rule, availableAt }: TooYoung) =>
    `Held back by ${rule} of this mirror ${availableAt === undefined ? "because its age is not known" : `until ${availableAt.toISOString()}`}`,
  "nothing-admitted": ({ counts }: NothingAdmitted) =>
    `This mirror leaves out every version (${counts})`,
  "checksums-malformed": "Refused, its SHA256SUMS is malformed",
  "archive-not-signed": "Refused, its SHA256SUMS does not name this archive",
  "checksum-conflict":
    "Refused, its registry names other content than was signed or seen first",
  "archive-digest": "Refused, the origin sent other bytes than were signed",
  "module-source-refused":
    "Refused, the registry names a place that no client may be sent to",
  "module-archive-refused": "Refused, the module's archive could do harm",
  "module-replaced": "Refused, its content differs from what was seen first",
  "origin-unreachable": "The origin registry cannot be reached",
  "origin-status": "The origin registry is failing",
  "origin-credentials": "The origin registry rejects the mirror's credentials",
  "origin-answer": unusable,
  "origin-address-refused":
    "The origin registry leads to an address that the mirror may not ask",
  "origin-busy": "The origin registry asks the mirror to wait",
  "origin-suspended": "The origin registry failed too often lately",
  "signature-undecided": "The signature could not be judged in time",
  "too-busy": busy,
  "store-full": "The mirror's store is full",
  "record-unreadable": "What the mirror saw first of this cannot be read",
  "stored-archive-unreadable": "The stored archive is damaged, try again",
  "stored-archive-damaged": "The stored archive is damaged, try again",
  "store-unusable": store,
  "not-ready": "The mirror is not ready",
  "bucket-foreign": store,
  "bucket-refuses": store,
  "bucket-unreachable": store,
  "origin-timeout": slow,
};

function notServed({ hostname }: OriginNotServed): string {
  return `This mirror does not serve ${hostname}`;
}

const longest = 200;

/**
 * Formats the reason phrase of a refusal (RFC 9112, 4), because clients print
 * it. It is one sentence on the cause, printable ASCII of at most 200 bytes,
 * without facts that only the operator may know.
 * `page` is the URL of the whole answer; it is left out where it does not fit.
 */
export function formatReasonPhrase(
  error: ProvenderError | undefined,
  page: string | undefined,
): string {
  const cause = makeSafe(describe(error));
  const whole = page === undefined ? cause : `${cause}, see ${page}`;
  return whole.length <= longest ? whole : cause.slice(0, longest);
}

function describe(error: ProvenderError | undefined): string {
  const phrase = error && phrases[error.code];
  if (error === undefined || phrase === undefined)
    return "The mirror failed, its operator finds the reason in the log";
  return typeof phrase === "string"
    ? phrase
    : (phrase as (error: ProvenderError) => string)(error);
}

/** Removes unsafe characters. Clients, origins and keys choose names freely. */
function makeSafe(text: string): string {
  return text.replaceAll(/[^\w .,:'()[\]+-]/g, "");
}
