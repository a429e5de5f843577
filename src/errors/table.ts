/** The operator's own words for people who are refused, in printable ASCII. */
export interface Guidance {
  readonly because: string | undefined;
  readonly contact: string | undefined;
}

/** The facts of errors by their names; all others are texts. */
interface Known {
  /** When a version becomes old enough; undefined when its age is not known. */
  readonly availableAt: Date | undefined;
  readonly because: "revoked" | "not-pinned" | "unknown";
  readonly computed: readonly string[];
  /** The decision of an operator in words, where one is the cause. */
  readonly decision: string | undefined;
  readonly found: number;
  readonly guidance: Guidance;
  readonly known: number;
  readonly line: number;
  readonly listed: readonly string[];
  readonly most: number;
  readonly owner: number;
  readonly missing: "signature" | "signing key";
  readonly reasons: readonly string[];
  readonly release: ProviderRelease;
  readonly remedy: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly size: number;
  readonly status: number;
  readonly user: number;
  /** The publisher's own key, where the program knows it. */
  readonly ownKey: string | undefined;
  /** Undefined when all versions are meant. */
  readonly version: string | undefined;
  /** Why an origin or a mirror refuses a token. */
  readonly words: string | undefined;
}

type Fact<N> = N extends keyof Known ? Known[N] : string;

export type Facts<N extends readonly string[]> = {
  readonly [K in N[number]]: Fact<K>;
};

/** The facts in the order in which a throw gives them. */
export type Values<N extends readonly string[]> = {
  readonly [I in keyof N]: Fact<N[I]>;
};

type Text<F> = string | ((facts: F) => string | undefined);

export interface Texts<F> {
  /** Status of the HTTP response; the default 500 has texts for the operator alone. */
  readonly status?: number;
  /** The reason phrase of the response, without what only the operator may know. */
  readonly phrase?: Text<F>;
  /** The cause, with expected and got. */
  readonly sentence: Text<F>;
  /** In the imperative. */
  readonly remedy: Text<F>;
}

/** Declares which facts an error has beside its texts. */
function row<const N extends readonly string[]>(
  facts: N,
  texts: Texts<Facts<N>>,
) {
  return { facts, ...texts };
}

/** Errors of requests and their permissions. */
const requestErrors = {
  "malformed-address": row(["what", "text", "expected"], {
    status: 400,
    phrase: "This is no address of a provider, module or version",
    sentence: ({ what, text }) =>
      `${JSON.stringify(text.slice(0, 200))} is not a ${what}`,
    remedy: "give {expected}",
  }),
  "malformed-request": row(["problem", "expected"], {
    status: 400,
    phrase: "The request is not well formed",
    sentence: "The request {problem}, expected {expected}",
    remedy: "check the client and what is in front of this mirror",
  }),
  "uri-too-long": row(["most"], {
    status: 414,
    phrase: "The URL is longer than any address",
    sentence: "The URL is longer than the {most} bytes that any address has",
    remedy: "check it",
  }),
  "method-not-allowed": row(["method"], {
    status: 405,
    phrase: "Only GET and HEAD are served",
    sentence: ({ method }) => `${method.slice(0, 20)} is not served`,
    remedy: "use GET or HEAD",
  }),
  "range-not-satisfiable": row(["filename", "size"], {
    status: 416,
    phrase: "The range is not within the archive",
    sentence: "{filename} has {size} bytes",
    remedy: "ask for a range within them",
  }),
  "no-such-page": row([], {
    status: 404,
    phrase: "There is nothing at this path",
    sentence: "There is nothing at this path",
    remedy:
      "look for provider mirrors under /providers/HOSTNAME/NAMESPACE/TYPE/ and for modules under /v1/modules/HOSTNAME/",
  }),
  /** Not 404, for which clients go on past the mirror. */
  "wrong-mirror-url": row(["base"], {
    status: 400,
    phrase: "This is not the url of the network mirror",
    sentence: "The network mirror is not at this path but below {base}",
    remedy: 'set "url" of the network_mirror block to it',
  }),
  "not-ready": row(["reason"], {
    status: 503,
    phrase: "The mirror is not ready",
    sentence: "The mirror is not ready ({reason})",
    remedy: "try again shortly",
  }),
  "token-needed": row([], {
    status: 401,
    phrase:
      "This mirror wants a token, set one in a credentials block or run login",
    sentence: "This mirror wants a token and none was sent",
    remedy:
      "set one for its hostname in a credentials block of the CLI configuration or in TF_TOKEN_…, or run terraform login",
  }),
  /** The reason never repeats what was sent. */
  "token-refused": row(["reason"], {
    status: 401,
    phrase: "The token is refused because {reason}",
    sentence: "The token is refused because {reason}",
    remedy: "get a new one from the mirror's operator, or run terraform login",
  }),
  "archive-url-refused": row(["reason"], {
    status: 401,
    phrase: "The archive's URL has expired or was changed, run init again",
    sentence: "The archive's URL is refused because {reason}",
    remedy: "run init again, which gets a new one",
  }),
  "origin-not-served": row(["hostname"], {
    status: 451,
    phrase: "This mirror does not serve {hostname}",
    sentence: "This mirror does not serve {hostname}",
    remedy: `ask its operator to add the hostname to "origins"`,
  }),
  /** The origin said so. */
  "not-found": row(["subject"], {
    status: 404,
    phrase: "The origin registry says that this does not exist",
    sentence: "The origin registry says that {subject} does not exist",
    remedy: "check the name and the version",
  }),
  "not-stored": row(["subject"], {
    status: 404,
    phrase: "Not stored, and this mirror is offline",
    sentence: "{subject} is not stored and this mirror is offline",
    remedy: "prefetch or import it first",
  }),
  "too-busy": row(["what"], {
    status: 503,
    phrase: "The mirror has too much to do, try again shortly",
    sentence: "The mirror has too many {what} at once",
    remedy: "try again shortly",
  }),
};

const later = "try again, or look at the origin";

/** The reason of an answer that ended before its announced end. */
export const cutShort = "the body was cut short";

/** Failures of an origin, which say nothing about whether a thing exists. */
const originErrors = {
  "origin-unreachable": row(["url", "reason"], {
    status: 502,
    phrase: "The origin registry cannot be reached",
    sentence: "{url} could not be reached ({reason})",
    remedy: ({ url }) =>
      url.startsWith("file:")
        ? "check that the folder of this origin is there, the daemon may read it and its disk works"
        : "check the network, proxy and CA on the way there",
  }),
  "origin-timeout": row(["url", "late"], {
    status: 504,
    phrase: "The origin registry is not answering",
    sentence: "{url} did not answer in time ({late})",
    remedy: later,
  }),
  "origin-status": row(["url", "status"], {
    status: 502,
    phrase: "The origin registry is failing",
    sentence: "{url} answered with status {status}, expected 200",
    remedy: later,
  }),
  /** 429, or 503 with Retry-After. */
  "origin-busy": row(["url", "retryAfterSeconds"], {
    status: 503,
    phrase: "The origin registry asks the mirror to wait",
    sentence: "{url} is asked too often, as it says",
    remedy: ({ retryAfterSeconds: seconds }) =>
      `try again ${seconds === undefined ? "later" : `in ${seconds} s`}`,
  }),
  "origin-suspended": row(["url", "retryAfterSeconds", "reason"], {
    status: 503,
    phrase: "The origin registry failed too often lately",
    sentence:
      "{url} is not asked for another {retryAfterSeconds} s because it failed too often ({reason})",
    remedy: "try again later, or look at the origin",
  }),
  /** In the words of who refuses the token, where there are any. */
  "origin-credentials": row(["url", "problem", "remedy", "words"], {
    status: 502,
    phrase: "The origin registry rejects the mirror's credentials",
    sentence: "{url} {problem}",
    remedy: "{remedy}",
  }),
  /** Too large, of another media type, not in the protocol's shape, or cut short. */
  "origin-answer": row(["url", "reason"], {
    status: 502,
    phrase: "The origin registry gave an unusable answer",
    sentence: "{url} gave an unusable answer ({reason})",
    remedy: later,
  }),
  "origin-address-refused": row(["url", "reason"], {
    status: 502,
    phrase:
      "The origin registry leads to an address that the mirror may not ask",
    sentence: "{url} is not asked because {reason}",
    remedy:
      'configure the origin\'s "url" or "allowPrivateAddresses" if this is intended',
  }),
};

const missing = {
  signature: {
    cause: "its registry publishes no signature",
    // Where a key is published, no setting but "off" takes a release without a signature.
    remedy: "tell its publisher",
  },
  "signing key": {
    cause: "its registry publishes no signing key",
    remedy:
      'set "signatures: when-published" for this origin to accept unsigned releases',
  },
};

/** Signatures, checksums and archives. */
const verificationErrors = {
  "signature-missing": row(["subject", "missing"], {
    status: 451,
    phrase: "Refused, its registry publishes no signature or key",
    sentence: (facts) =>
      `${facts.subject} is refused because ${missing[facts.missing].cause}`,
    remedy: (facts) => missing[facts.missing].remedy,
  }),
  "signature-refused": row(["subject", "reason", "detail"], {
    status: 451,
    phrase: "Refused, its signature is not acceptable",
    sentence: "The signature of {subject} is refused ({detail})",
    remedy: "tell its publisher, and do not install it from elsewhere",
  }),
  /** Nothing is known about the signature. */
  "signature-undecided": row(["subject", "reason"], {
    status: 503,
    phrase: "The signature could not be judged in time",
    sentence:
      "The signature of {subject} could not be judged ({reason}), so nothing was accepted",
    remedy: "try again",
  }),
  /** The mirror takes the release unsigned; this client checks signatures itself. */
  "nothing-to-verify": row(["subject", "missing"], {
    status: 451,
    phrase:
      "Nothing here that a client could verify, use network_mirror instead",
    sentence:
      '{subject} has no {missing} that a client could check, since this mirror takes it under its "signatures" setting',
    remedy: 'install it through "network_mirror" instead',
  }),
  "checksums-malformed": row(["subject", "line", "reason"], {
    status: 451,
    phrase: "Refused, its SHA256SUMS is malformed",
    sentence: "SHA256SUMS of {subject} is refused at line {line} ({reason})",
    remedy: "tell its publisher",
  }),
  "archive-not-signed": row(["subject", "filename"], {
    status: 451,
    phrase: "Refused, its SHA256SUMS does not name this archive",
    sentence:
      "SHA256SUMS of {subject} does not name {filename}, which is refused",
    remedy: "tell its publisher",
  }),
  "checksum-conflict": row(["archive", "expected", "got", "where"], {
    status: 451,
    phrase:
      "Refused, its registry names other content than was signed or seen first",
    sentence:
      "{archive} is refused (expected SHA-256 {expected}, {where} says {got})",
    remedy: "tell its publisher",
  }),
  "archive-digest": row(["archive", "expected", "got"], {
    status: 451,
    phrase: "Refused, the origin sent other bytes than were signed",
    sentence:
      "{archive} is refused (expected SHA-256 {expected}, the origin sent {got})",
    remedy:
      "try again in five minutes, when it is fetched again, since nothing was kept",
  }),
  /** Clients could not compute a reliable h1 of the zip. */
  "archive-unhashable": row(["archive", "reason"], {
    sentence: "{archive} has no h1 ({reason})",
    remedy: "put only its zh: into a lock file",
  }),
};

/** Why the trust policy does not take a signing key, or a release without one. */
const refusals = {
  revoked: { key: "was revoked", unsigned: "that is revoked" },
  "not-pinned": {
    key: "is not pinned",
    unsigned: "the configuration takes pinned keys alone",
  },
  unknown: {
    key: "is not known for this provider",
    unsigned: "keys are known for this provider",
  },
} as const;

const keyFacts = [
  ...(["release", "fingerprint", "because", "sha256sums"] as const),
  ...(["decision", "ownKey"] as const),
] as const;

function whyKeyRefused({
  fingerprint,
  because,
  decision,
  ownKey,
}: Facts<typeof keyFacts>): string {
  const { key, unsigned } = refusals[because];
  if (fingerprint === "none") return `it is not signed (${unsigned})`;
  if (because === "unknown" && ownKey !== undefined)
    return `its signing key ${fingerprint} is not the publisher's (${ownKey})`;
  return `its signing key ${fingerprint} ${decision === undefined ? key : `was ${decision}`}`;
}

/** Policy, keys and the decisions of operators. */
const trustErrors = {
  "policy-denied": row(["provider", "version", "rule", "guidance"], {
    status: 451,
    phrase: "Denied by {rule} of this mirror",
    sentence: ({ provider, version, rule, guidance }) =>
      `${provider}${version === undefined ? "" : ` ${version}`} is denied by "${rule}" of this mirror${quote(guidance)}`,
    remedy: ({ provider, version, guidance }) =>
      `use another ${version === undefined ? kindOf(provider) : "version"}, or ${ask(guidance)} to allow it`,
  }),
  "too-young": row(["provider", "version", "rule", "availableAt", "guidance"], {
    status: 451,
    phrase: ({ rule, availableAt }) =>
      `Held back by ${rule} of this mirror ${formatWait(availableAt)}`,
    sentence: ({ provider, version, rule, availableAt, guidance }) =>
      `${provider} ${version} is held back by "${rule}" of this mirror ${formatWait(availableAt)}${quote(guidance)}`,
    remedy: ({ guidance }) =>
      `use an older version, or ${ask(guidance)} to allow it`,
  }),
  /** How many versions are left out for what reason, and each of them as far as a few lines can. */
  "nothing-admitted": row(["provider", "counts", "reasons", "guidance"], {
    status: 451,
    phrase: "This mirror leaves out every version ({counts})",
    sentence:
      "No version of {provider} can be used: this mirror leaves out every one ({counts})",
    remedy: ({ guidance }) => ask(guidance),
  }),
  /** The fingerprint is "none" for an unsigned release. */
  "key-refused": row(keyFacts, {
    status: 451,
    phrase: (facts) =>
      `Held back by this mirror, ${facts.fingerprint === "none" ? "it is not signed" : whyKeyRefused(facts)}`,
    sentence: (facts) =>
      `${nameRelease(facts.release)} is held back because ${whyKeyRefused(facts)}`,
    remedy: (facts) => {
      // No advice undoes a decision.
      if (facts.because === "revoked") return "use another version";
      const operator = `as the mirror's operator ${decideOnKey(facts)}`;
      return facts.because === "unknown" && facts.ownKey !== undefined
        ? `install it from nowhere, and find out what answers this mirror as ${facts.release.provider.hostname}; only if the publisher announced another key, ${operator}`
        : `check with the publisher, then ${operator}`;
    },
  }),
  /** An operator decided on its content. */
  "content-revoked": row(["release", "sha256sums", "decision"], {
    status: 451,
    phrase: "Held back by this mirror, its content was {decision}",
    sentence: ({ release, sha256sums, decision = "revoked" }) =>
      `${nameRelease(release)} is held back because its content (${nameContent(release, sha256sums)}) was ${decision}`,
    remedy: "use another version",
  }),
  /** Other content than the pinned checksums. */
  "release-conflict": row(["release", "offered"], {
    status: 451,
    phrase: "Refused, its registry offers other content than was seen first",
    sentence: ({ release, offered }) =>
      `${nameRelease(release)} is offered with other content (SHA256SUMS ${offered}) than its pinned checksums`,
    remedy: ({ release, offered }) => approveAfterCheck(release, offered),
  }),
  /** A decision that names no content, or would have no effect. */
  "trust-decision": row(["subject", "problem", "remedy"], {
    sentence: "{subject} {problem}",
    remedy: "{remedy}",
  }),
};

/** A module's address has four parts. */
function kindOf(address: string): string {
  return address.split("/").length > 3 ? "module" : "provider";
}

function quote({ because }: Guidance): string {
  return because === undefined ? "" : ` (${because})`;
}

function ask({ contact = "the mirror's operator" }: Guidance): string {
  return `ask ${contact}`;
}

function formatWait(availableAt: Date | undefined): string {
  return availableAt === undefined
    ? "because nothing says how old it is"
    : `until ${availableAt.toISOString()}`;
}

function decideOnKey(facts: Facts<typeof keyFacts>): string {
  const { release, fingerprint, because, sha256sums } = facts;
  if (because === "not-pinned") return `change "trust.keys"`;
  const content = `run "${formatApproval(release, sha256sums)}" for this content`;
  return fingerprint === "none"
    ? content
    : `${content}, or "${formatKeyApproval(release, fingerprint)}" for the key`;
}

/** Sources and archives of modules. */
const moduleErrors = {
  /** No client should be sent there. */
  "module-source-refused": row(["module", "reason"], {
    status: 451,
    phrase: "Refused, the registry names a place that no client may be sent to",
    sentence:
      "The place that the registry names for {module} is refused ({reason})",
    remedy: "tell its publisher",
  }),
  /** It could harm who unpacks it. */
  "module-archive-refused": row(["module", "reason"], {
    status: 451,
    phrase: "Refused, the module's archive could do harm",
    sentence:
      "The archive of {module} is refused and nothing of it was kept ({reason})",
    remedy: "tell its publisher",
  }),
  "module-replaced": row(["release", "expected", "offered"], {
    status: 451,
    phrase: "Refused, its content differs from what was seen first",
    sentence: ({ release, expected, offered }) =>
      `${nameRelease(release)} is offered with other content than clients get of it (expected ${nameContent(release, expected)}, got ${nameContent(release, offered)})`,
    remedy: ({ release, offered }) => approveAfterCheck(release, offered),
  }),
};

/** The storage directory and the address to listen on. */
const storeErrors = {
  "store-too-old": row(["directory"], {
    sentence:
      "The storage directory {directory} has records in files, as provender kept them before it had a database",
    remedy: `set another, empty "storage.directory"; its tls/ can be copied there`,
  }),
  "backup-unwritable": row(["file", "reason"], {
    sentence: "{file} was not written ({reason})",
    remedy: "name a file that is not there, in a directory that can be written",
  }),
  "backup-elsewhere": row([], {
    sentence: `The database is the one of "database.url"`,
    remedy: "back it up with pg_dump",
  }),
  "database-damaged": row(["file", "problem"], {
    sentence: "The database {file} cannot be used ({problem})",
    remedy: "restore it from a backup",
  }),
  "database-missing": row(["file"], {
    sentence:
      "{file}, which says what of the archives beside it may be served, is missing",
    remedy:
      "restore it from a backup; to begin again with first contacts, remove blobs/, too",
  }),
  "database-too-new": row(["place", "found", "known"], {
    sentence:
      "The database {place} is of version {found}, and this provender knows databases up to version {known}",
    remedy: `run the provender that wrote it or a newer one, or set another "storage.directory" or "database.url"`,
  }),
  "database-unreachable": row(["place", "reason"], {
    status: 503,
    phrase: "The mirror's database cannot be used now",
    sentence: "The database {place} cannot be used ({reason})",
    remedy: `try again shortly, and look at the server and at "database.url"`,
  }),
  "store-unusable": row(["directory", "reason"], {
    sentence: "The storage directory {directory} cannot be used ({reason})",
    remedy: `make it a directory that can be written, or set another "storage.directory"`,
  }),
  /** The owner could not use what this process would write. */
  "store-owned-by-another": row(["directory", "owner", "user"], {
    sentence:
      "The storage directory {directory} belongs to the user {owner}, and this is the user {user}",
    remedy: "run the command as that user or as root",
  }),
  /** Stored content is still served. */
  "store-full": row(["subject", "reason", "remedy"], {
    status: 503,
    phrase: "The mirror's store is full",
    sentence: "The mirror cannot store {subject} ({reason})",
    remedy: "{remedy}",
  }),
  /** A damaged record: pinned checksums or decisions are unknown. */
  "record-unreadable": row(["file", "problem"], {
    status: 503,
    phrase: "What the mirror saw first of this cannot be read",
    sentence:
      "The record {file} cannot be used ({problem}), and what depends on it is refused",
    remedy: "restore provender.db from a backup",
  }),
  "stored-archive-damaged": row(["sha256", "problem"], {
    status: 503,
    phrase: "The stored archive is damaged, try again",
    sentence: "The stored archive {sha256} is damaged ({problem})",
    remedy: `check the disk, and run "provender verify --repair", so that it is fetched again`,
  }),
  listen: row(["address", "reason"], {
    sentence: "Cannot listen on {address} ({reason})",
    remedy: `stop what uses it, or change "listen.host" or "listen.port"`,
  }),
};

/** The bucket of `storage.s3`: requests go on without it. */
const bucketErrors = {
  "bucket-unreachable": row(["bucket", "reason"], {
    sentence: "The bucket {bucket} does not answer ({reason})",
    remedy: "try again shortly, and look at the object store",
  }),
  "bucket-refuses": row(["bucket", "action", "status", "reason"], {
    sentence: "The bucket {bucket} refuses to {action} ({status} {reason})",
    remedy: `check "storage.s3" and what its keys may do`,
  }),
};

/** Bundles and trees that are imported or exported. */
const bundleErrors = {
  "bundle-refused": row(["path", "problem"], {
    sentence:
      "{path} is refused as a bundle ({problem}), and nothing of it was imported",
    remedy: `get a whole copy of what "provender export --to FILE.tar" wrote`,
  }),
  /** It was written with --since. */
  "bundle-incomplete": row(["subject"], {
    sentence: "{subject} is neither in the bundle nor stored",
    remedy: `import the bundle first that "--since" named when this one was written`,
  }),
  "export-failed": row(["path", "reason"], {
    sentence: "{path} could not be written ({reason})",
    remedy: "mend that and export again",
  }),
};

/** A place is FILE, FILE:LINE, a variable or an argument. */
const misplaced = row(["where", "problem", "remedy"], {
  sentence: "{where}: {problem}",
  remedy: ({ remedy }) => remedy,
});

/** Errors of command-line arguments and inputs. */
const commandErrors = {
  input: misplaced,
  /** Time or memory ran out; nothing else of the command is read then. */
  "hostile-input": row(["file"], {
    sentence: "{file} takes more time or memory to parse than any honest file",
    remedy: "look what is in it and who wrote it, or split it",
  }),
  arguments: misplaced,
  configuration: misplaced,
  "no-authority": row(["file"], {
    sentence: "{file} is not a CA that can be read",
    remedy:
      "start the daemon, which makes one, or give the daemon's configuration with --config",
  }),
  "nothing-asked": row([], {
    sentence: "There is nothing to fetch",
    remedy: "give SPECs, --lock-file or --directory, or modules with --module",
  }),
  "nothing-held": row(["spec"], {
    sentence:
      "No archive of {spec} is stored, so that there is nothing to forget",
    remedy: `see in "provender list" what is`,
  }),
  /** There are versions, and none of them is among those that were asked for. */
  "no-version": row(["subject", "asked", "where"], {
    sentence: "No version of {subject} matches {asked} ({where})",
    remedy: "change the constraint, or ask which versions the mirror allows",
  }),
  /** A verified package is not one of those that a dependency lock file lists. */
  "lock-mismatch": row(["archive", "where", "listed", "computed"], {
    sentence: ({ archive, where, listed, computed }) =>
      `${archive} is not what ${where} locks (it lists ${listed.join(", ")}; the publisher's package has ${computed.join(", ")})`,
    remedy: `if only this platform is missing, run "provender lock", otherwise find out why the package changed`,
  }),
};

/** Every error by its code: HTTP status, reason phrase, sentence and remedy. */
export const table = {
  ...requestErrors,
  ...originErrors,
  ...verificationErrors,
  ...trustErrors,
  ...moduleErrors,
  ...storeErrors,
  ...bucketErrors,
  ...bundleErrors,
  ...commandErrors,
};

/** A release by the parts of its name; a TYPE with a slash is the NAME/SYSTEM of a module. */
export interface ProviderRelease {
  readonly provider: {
    readonly hostname: string;
    readonly namespace: string;
    readonly type: string;
  };
  readonly version: string;
}

/** Digits of a digest that a command names; enough for one release. */
const prefixLength = 16;
/** Digits of a git commit by SHA-1. */
const commitLength = 40;

/** `HOSTNAME/NAMESPACE/TYPE`, as commands take it. */
function nameProvider({ provider }: ProviderRelease): string {
  const { hostname, namespace, type } = provider;
  return `${hostname}/${namespace}/${type}`;
}

function nameRelease(release: ProviderRelease): string {
  return `${nameProvider(release)} ${release.version}`;
}

/** Writes the command that approves exactly this content. */
export function formatApproval(
  release: ProviderRelease,
  sha256sums: string,
): string {
  return `provender trust approve ${nameProvider(release)}@${release.version} ${sha256sums.slice(0, prefixLength)}`;
}

function approveAfterCheck(
  release: ProviderRelease,
  sha256sums: string,
): string {
  return `check with the publisher, then as the mirror's operator run "${formatApproval(release, sha256sums)}"`;
}

export function formatKeyApproval(
  release: ProviderRelease,
  fingerprint: string,
): string {
  return `provender trust approve --key ${fingerprint} --for ${nameProvider(release)}`;
}

/** True for a TYPE that is the NAME/SYSTEM of a module. */
export function isModuleType(type: string): boolean {
  return type.includes("/");
}

/** Names a content in words: that of a module is an archive or a commit. */
export function nameContent(
  { provider }: Pick<ProviderRelease, "provider">,
  digest: string,
): string {
  if (!isModuleType(provider.type)) return `SHA256SUMS ${digest}`;
  return `${digest.length === commitLength ? "commit" : "SHA-256"} ${digest}`;
}
