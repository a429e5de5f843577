import { describe, expect, it } from "vitest";
import { failing } from "../scenes/failing.ts";
import { load, refusal } from "./written.ts";

describe("an unknown key", () => {
  it.each(
    Object.entries({
      "\nfreshnes: {}": ':2: unknown key "freshnes": did you mean "freshness"?',
      "listen:\n  hots: x":
        ':2: unknown key "hots" in "listen": did you mean "host"?',
      "origins:\n  a.example:\n    signature: off":
        ':3: unknown key "signature" in "origins.a.example": did you mean "signatures"?',
      "trust:\n  keys:\n    - fingerprint: []":
        ':3: unknown key "fingerprint" in "trust.keys[0]": did you mean "fingerprints"?',
      "maxSize: 1":
        ':1: unknown key "maxSize": did you mean "storage.maxSize"?',
      "log: { colours: 1 }":
        'unknown key "colours" in "log": expected one of level.',
      "__proto__: {}": 'unknown key "__proto__": expected one of listen,',
      "<<: { offline: true }": 'unknown key "<<"',
    }),
  )("is named with its line and the nearest key: %j", (yaml, message) => {
    expect(refusal(yaml)).toContain(message);
  });
});

describe("a bad value", () => {
  it.each(
    Object.entries({
      "freshness:\n  versions: 5 minutes":
        ':2: "freshness.versions" is "5 minutes": expected a duration such as 500ms, 30s, 5m, 1h, 7d or 0.',
      "storage:\n  minFree: 5GB":
        ':2: "storage.minFree" is "5GB": expected a size such as 512MiB or 200GiB.',
      "listen: { trustedProxies: ['10.0.0.0/33'] }":
        '"listen.trustedProxies[0]" is "10.0.0.0/33": expected an address or a network such as 192.0.2.1 or 10.0.0.0/8.',
      "listen: { tls: on }":
        'is "on": expected self-signed, off or { certificate: PATH, key: PATH }.',
      "listen: { tls: { certificate: a } }":
        '"listen.tls.key" is missing: expected a path.',
      "listen: { port: 65536 }": '"listen.port" is 65536: expected a port',
      "listen: { host: '127.0.0.1:8443' }": "expected an address",
      "offline: yes": '"offline" is "yes": expected true or false.',
      "platforms:\n  - linux_amd64\n  - linux-arm64":
        ':3: "platforms[1]" is "linux-arm64": expected OS_ARCH such as linux_amd64.',
      "limits: { connections: 1.5 }":
        "is 1.5: expected a whole number of at least 1 such as 4096.",
      "limits: { firstByte: 9s }":
        'there is no key "limits.firstByte" any longer: leave it out; it is fixed: 10 s',
      "limits: { archive: 0 }": '"limits.archive" is 0: expected a size',
      "policy: { rules: [{ match: 'hashicorp/*', action: allow }] }":
        '"policy.rules[0].match" is "hashicorp/*": expected HOSTNAME/NAMESPACE/TYPE',
      "policy: { rules: [{ match: 'a.example/b/c', action: deny, versions: new }] }":
        '"policy.rules[0].versions" is "new": expected a version constraint such as "~> 5.0"',
      "trust: { keys: [{ match: 'a.example/b/c', fingerprints: [34365D9472D7468F] }] }":
        'is "34365D9472D7468F": expected a full fingerprint of 40 or 64 hexadecimal digits',
      "trust: { keys: [{ match: 'a.example/b/c', fingerprints: [] }] }":
        '"trust.keys[0].fingerprints" is empty: expected at least one.',
      [`auth: { tokens: [{ name: ci, sha256: ${"a".repeat(64)}, expires: 2026-02-30 }] }`]:
        '"auth.tokens[0].expires" is "2026-02-30": expected a date such as 2027-01-31',
      "auth: { oidc: [{ issuer: 'https://token.actions.githubusercontent.com', audience: b }] }":
        '"auth.oidc[0].claims" takes tokens that anybody can get: token.actions.githubusercontent.com signs for every account. Expected the claim of yours, such as "repository_owner: acme"',
      "auth: { oidc: [{ issuer: 'https://gitlab.com/', audience: b, claims: { sub: ['*'] } }] }":
        '"auth.oidc[0].claims.sub[0]" is "*": expected a value, in which * stands for any characters',
      "auth: { oidc: [{ issuer: 'https://a.example', audience: b }, { issuer: 'https://a.example/', audience: c }] }":
        '"auth.oidc[1].issuer" is https://a.example/ again: expected one entry for each issuer',
      "auth: { oidc: { issuer: 'https://login.example.com./', audience: b } }":
        '"auth.oidc.issuer" ends its hostname with a dot: expected it as the tokens of this issuer name it, without one',
      "origins:\n  a.example: off":
        ':2: "origins.a.example" is off, and is not built in: leave it out.',
      "origins: { a.example: {}, 'a.example:443': {} }":
        '"origins.a.example:443" is a.example once more',
      "origins: { a.example: { directory: /srv, url: https://b.example/ } }":
        'has "directory" and "url"',
      "origins:\n  a.example:\n    networkMirror: https://b.example/providers/":
        ':3: there is no key "origins.a.example.networkMirror" any longer: a mirror upstream is a registry',
      ...Object.fromEntries(
        ["http://a.example/", "a.example", "https://u:p@a/"].map((url) => [
          `origins: { a.example: { url: '${url}' } }`,
          '"origins.a.example.url" is ',
        ]),
      ),
      ...Object.fromEntries(
        ["A.example", "256.1.1.1"].map((name) => [
          `origins:\n  ok.example:\n  "${name}": {}`,
          `:3: "origins.${name}" is not a hostname: expected`,
        ]),
      ),
    }),
  )("is named with got, expected and an example: %j", (yaml, message) => {
    expect(refusal(yaml)).toContain(message);
  });

  it.each([
    "auth: { tokens: [{ name: ci, sha256: hunter2 }] }",
    "origins: { a.example: { token: { env: hunter2! } } }",
    "origins: { a.example: { url: 'https://me:hunter2@a.example/' } }",
    "origins: { a.example: { url: 'https://a.example/?token=hunter2' } }",
  ])("is not shown where a secret may stand: %s", (yaml) => {
    const message = refusal(yaml);
    expect(message).toContain("expected");
    expect(message).not.toContain("hunter2");
  });
});

describe("a file that is not a configuration", () => {
  it.each(
    Object.entries({
      "\na: [1\nb: 2": ":3: not valid YAML: ",
      "log: {}\nlisten: {}\nlog: {}":
        ":3: this key appears twice: leave one of them out.",
      "just text":
        ":1: the file is text: expected a mapping of keys to values.",
      "log: {}\n---\nlog: {}": ":2: a second document starts here.",
      "log: {}\nlisten: *missing":
        ": not valid YAML: Unresolved alias (the anchor must be set before the alias): missing",
      "? [a]\n: b": ":1: a key must be plain text",
      "log: &log { level: *log }": ':1: "log.level" is a mapping: expected',
      ["[".repeat(100_000)]: ":1: not valid YAML: ",
      [aliasBomb()]: ": not valid YAML: Excessive alias count",
    }),
  )("is refused with its line: %j", (yaml, message) => {
    expect(refusal(yaml)).toContain(`provender.yaml${message}`);
  });

  function aliasBomb(): string {
    const ten = (of: string) =>
      `[${Array.from({ length: 10 }, () => of).join()}]`;
    return `a: &a ${ten("1")}\nb: &b ${ten("*a")}\nc: &c ${ten("*b")}\nd: ${ten("*c")}`;
  }
});

describe("several problems", () => {
  it("are one error, each with its line, in the order of the file", () => {
    const message = refusal("log: { level: loud }\nofline: true\nlisten: 5");
    expect(message).toBe(
      [
        'configuration: provender.yaml:1: "log.level" is "loud": expected "trace" or "debug" or "info" or "warn" or "error" or "fatal".',
        'provender.yaml:2: unknown key "ofline": did you mean "offline"?',
        'provender.yaml:3: "listen" is a number: expected a mapping of keys to values.',
      ].join("\n"),
    );
  });

  it("are five at most, each once, and the others are counted", () => {
    const message = refusal("a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1");
    const lines = message.split("\n");
    expect(lines).toHaveLength(6);
    expect(lines[4]).toContain("provender.yaml:5:");
    expect(lines[5]).toBe("(and 2 more)");
    const same = refusal("[".repeat(100_000)).split("\n").slice(1);
    expect(new Set(same).size).toBe(same.length);
    expect(() => load("a: 1")).toThrow(failing("configuration"));
  });
});
