import { host, moduleHost } from "../scenes/why-scene.ts";

/** Something that clients do not get, as the page tells of it. */
export interface Section {
  readonly title: string;
  /** Words of the clients; each appears in some output. */
  readonly words: readonly string[];
  /** Cause and remedy. */
  readonly cause: string;
  readonly hostname: string;
  /** `NAMESPACE/TYPE`, or `NAMESPACE/NAME/SYSTEM` of a module. */
  readonly name: string;
  readonly version?: string;
  /** The version, when it is a module. */
  readonly module?: string;
  /** True for the mirror that is offline and requires a token. */
  readonly guarded?: true;
  readonly token?: "wrong" | "expired" | "good";
}

export const sections: readonly Section[] = [
  {
    title: "Denied by a rule",
    words: [
      "451 Denied by policy.rules",
      "server returned unsuccessful status 451",
    ],
    cause:
      "A rule of the mirror's configuration (`policy.rules`, counted from 0, or `policy.default`) denies the provider. Use another one, or ask the operator of the mirror to allow it.",
    hostname: host,
    name: "acme/denied",
  },
  {
    title: "A version is denied by a rule",
    words: [
      "no available releases match the given constraints",
      "This mirror leaves out, denied:",
    ],
    cause:
      "Denied versions are not listed, so the client knows of none that matches. Behind a `host` block it warns of them where another version is installed. Ask for another version, or ask the operator.",
    hostname: host,
    name: "acme/partly",
    version: "2.0.0",
  },
  {
    title: "Another version is denied",
    words: ["This mirror leaves out, denied:"],
    cause:
      "The newest version that the mirror lists is installed; behind a `host` block the client warns of those that it leaves out.",
    hostname: host,
    name: "acme/partly",
  },
  {
    title: "Too young",
    words: ["451 This mirror leaves out every version (1 too young)"],
    cause:
      "`minimumAge` holds new versions back, so that a bad release is found before it reaches you. Wait until the time in the message, or use an older version.",
    hostname: host,
    name: "acme/young",
  },
  {
    title: "Held back because of its signing key",
    words: ["This mirror leaves out, held back:", "unknown signing key"],
    cause:
      "The version is signed with a key that the mirror does not know for this provider. After checking the key with the publisher, the operator runs the command that `provender trust list` prints for it.",
    hostname: host,
    name: "acme/held",
    version: "1.1.0",
  },
  {
    title: "A key that was revoked",
    words: ["451 This mirror leaves out every version (1 held back)"],
    cause:
      "The operator of the mirror revoked the key, so that nothing signed with it is served. `/why/…` and `provender explain` quote the decision: who, when, for what and why.",
    hostname: host,
    name: "left/demo",
  },
  {
    title: "Re-created",
    words: ["has been successfully initialized"],
    cause:
      "The registry offers other content for a version than it did at first. Clients keep getting the first; an alarm tells the operator. Where the first is not stored, its archive is refused: `451 Refused, its registry names other content than was signed or seen first`. A lock file that has the new content does not match.",
    hostname: host,
    name: "acme/recreated",
  },
  {
    title: "Tampered",
    words: [
      "bad response code: 451",
      "451 Refused, the origin sent other bytes than were signed",
    ],
    cause:
      "The origin sent other bytes for the archive than its publisher signed. Nothing of them is kept; for five minutes it is refused at once, then it is fetched again. Tell the publisher when it goes on.",
    hostname: host,
    name: "acme/tampered",
  },
  {
    title: "Tampered and large",
    words: ["unexpected EOF"],
    cause:
      "The origin sent other bytes for the archive than its publisher signed, or it was cut on its way again and again. An archive of more than 8 MiB is on its way to the first client before the mirror has the whole, so that its end is cut: no client gets a wrong archive. Who tries again reads the reason, as below [Tampered](#tampered), for five minutes; then it is fetched again. `/why/…` and the log have it, too. Tell the publisher when it goes on.",
    hostname: host,
    name: "acme/tampered-large",
  },
  {
    title: "No such provider",
    words: [
      "does not have a provider named",
      "was not found in any of the search locations",
    ],
    cause:
      "The registry says that the name does not exist. Compare it with the registry; `/why/…` and `provender explain` name what the mirror knows with a similar name.",
    hostname: host,
    name: "acme/partli",
  },
  {
    title: "No such version",
    words: ["no available releases match the given constraints"],
    cause: "The registry does not list the version.",
    hostname: host,
    name: "acme/held",
    version: "1.0.9",
  },
  {
    title: "The mirror does not serve this hostname",
    words: [
      "451 This mirror does not serve",
      "server returned unsuccessful status 451",
    ],
    cause:
      "The hostname is not among the `origins` of the mirror: check its spelling, or ask the operator to add it. With `policy.otherHosts: not-found` clients go on to their next installation method instead.",
    hostname: "registry.example.com",
    name: "acme/demo",
  },
  {
    title: "The registry cannot be reached",
    words: ["502 The origin registry cannot be reached"],
    cause:
      "The mirror holds nothing of it yet and its registry does not take connections. It is asked again at the next attempt; the operator looks at the network, the proxy and the CA.",
    hostname: "down1.example.com",
    name: "acme/demo",
  },
  {
    title: "The registry is slow",
    words: ["504 The origin registry is not answering"],
    cause:
      "The mirror holds nothing of it yet and its registry did not answer in time. Try again.",
    hostname: "slow1.example.com",
    name: "acme/demo",
  },
  {
    title: "Not stored in a mirror that is offline",
    words: [
      "does not have a provider named",
      "was not found in any of the search locations",
    ],
    cause:
      "With `offline: true` the mirror serves only what it holds: `provender import` or `provender prefetch` brings more.",
    hostname: host,
    name: "acme/partly",
    guarded: true,
    token: "good",
  },
  {
    title: "No token",
    words: [
      "requires authentication credentials",
      "rejected the given authentication credentials",
    ],
    cause:
      "The mirror wants a token: set one for its hostname (behind a `host` block: for the hostname of the block) in a `credentials` block or in `TF_TOKEN_…`, or run `terraform login`.",
    hostname: host,
    name: "acme/partly",
    guarded: true,
  },
  {
    title: "A wrong token",
    words: ["rejected the given authentication credentials"],
    cause:
      "The mirror does not know the token. Get one from its operator, or run `terraform login`.",
    hostname: host,
    name: "acme/partly",
    guarded: true,
    token: "wrong",
  },
  {
    title: "A token that has expired",
    words: ["rejected the given authentication credentials"],
    cause: "Get a new one from the mirror's operator.",
    hostname: host,
    name: "acme/partly",
    guarded: true,
    token: "expired",
  },
  {
    title: "A module that is passed through",
    words: ["error downloading"],
    cause:
      "The mirror cannot fetch from where the registry leads (such as `hg::` or `s3::`), so the client is sent there and needs what that takes itself.",
    hostname: moduleHost,
    name: "acme/far/aws",
    module: "1.0.0",
  },
  {
    title: "A module that is denied by a rule",
    words: ["error looking up module versions: 451 Denied by policy.rules"],
    cause:
      "A rule with four parts denies the module. Use another one, or ask the operator of the mirror to allow it.",
    hostname: moduleHost,
    name: "acme/denied/aws",
    module: "1.0.0",
  },
];

/** Lines of a message that are shown. */
const shown = 3;

/** Cuts an output to the first lines of each warning and error, or else to its end. */
export function excerpt(output: string): string {
  const lines = output.split("\n").filter((line) => line !== "");
  const starts = lines.flatMap((line, at) =>
    /^(?:Warning|Error): /.test(line) ? [at] : [],
  );
  const messages = starts.map((start, index) => {
    const end = Math.min(starts[index + 1] ?? lines.length, start + 1 + shown);
    return lines.slice(start, end).join("\n");
  });
  const success = lines.filter((line) => line.includes("successfully"));
  return messages.length > 0 ? messages.join("\n\n") : success.join("\n");
}
