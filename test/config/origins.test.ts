import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { parseHostname } from "../../src/address/hostname.ts";
import type { OriginConfiguration } from "../../src/config/load.ts";
import { load, refusal, temporaryFolder, writeInto } from "./written.ts";

function origin(
  settings: string,
  env: NodeJS.ProcessEnv = {},
  folder = temporaryFolder(),
): OriginConfiguration | undefined {
  const { origins } = load(`origins: { a.example: ${settings} }`, env, folder);
  return origins.get(parseHostname("a.example"));
}

describe("origins", () => {
  it("are added to those that are built in, and off takes one of those out", () => {
    const names = (yaml: string) => [...load(yaml).origins.keys()];
    const both = ["registry.terraform.io", "registry.opentofu.org"];
    const builtIn = [...load("").origins.values()];
    expect(builtIn).toMatchObject([
      { hostname: both[0], signatures: "required" },
      { hostname: both[1], signatures: "when-published" },
    ]);
    expect(names("origins:\n  a.example:\n  b.example:8443: {}")).toEqual([
      ...both,
      ...["a.example", "b.example:8443"],
    ]);
    expect(names("origins: {}")).toEqual(both);
    const one = "registry.opentofu.org: off";
    expect(names(`origins: { ${one}, a.example: }`)).toEqual([
      ...["registry.terraform.io", "a.example"],
    ]);
    expect(names(`origins: { ${one}, registry.terraform.io: off }`)).toEqual(
      [],
    );
  });

  it("have defaults that ask https://HOSTNAME/ and demand signatures", () => {
    expect(origin("{}")).toEqual({
      ...{ hostname: "a.example", url: new URL("https://a.example/") },
      ...{ urlConfigured: false, signatures: "required" },
      ...{ profile: "terraform", allowPrivateAddresses: false },
    });
  });

  it("have what is written, which for registry.opentofu.org demands signatures, too", () => {
    const written = origin(
      "{ url: 'https://registry.internal:8443/path', signatures: off, profile: strict, allowPrivateAddresses: true }",
    );
    expect(written?.url.href).toBe("https://registry.internal:8443/path/");
    expect(written).toMatchObject({
      urlConfigured: true,
      signatures: "off",
      profile: "strict",
      allowPrivateAddresses: true,
    });
    const { origins } = load("origins: { registry.opentofu.org: {} }");
    const builtIn = origins.get(parseHostname("registry.opentofu.org"));
    expect(builtIn?.signatures).toBe("required");
  });
});

describe("the ca of an origin", () => {
  const [pem = ""] = rootCertificates;

  it("is read relative to the configuration file, its certificates alone", () => {
    const folder = temporaryFolder();
    writeInto(folder, "ca.pem", `our CAs\n${pem}\n\n${pem}\nend`);
    const { ca } = origin("{ ca: ca.pem }", {}, folder) ?? {};
    expect(ca).toBe(`${pem}\n${pem}\n`);
  });

  it("is refused where it cannot be read, has no certificate, or one that cannot be parsed", () => {
    expect(refusal("origins:\n  a.example:\n    ca: /none/ca.pem")).toContain(
      'provender.yaml:3: "origins.a.example.ca" names /none/ca.pem, which cannot be read (ENOENT): check the path and its permissions.',
    );
    const folder = temporaryFolder();
    const refused = (text: string) => {
      writeInto(folder, "ca.pem", text);
      return refusal("origins: { a.example: { ca: ca.pem } }", {}, folder);
    };
    expect(refused("nothing")).toContain("holds no PEM certificate");
    const broken = pem.replace(/\n[^-]+\n/, "\nAAAA\n");
    expect(refused(`${pem}\n${broken}`)).toContain(
      "whose certificate 2 cannot be parsed",
    );
  });
});

describe("the token of an origin", () => {
  it("is read from the environment, or from a file without the newline at its end", () => {
    const folder = temporaryFolder();
    const path = writeInto(folder, "token", "s3cret\n");
    const token = (from: string) =>
      origin(`{ token: ${from} }`, { TOKEN: "s3cret" }, folder)?.token;
    const secret = "s3cret";
    expect(token("{ env: TOKEN }")).toEqual({ secret, source: "env TOKEN" });
    expect(token("{ file: token }")).toEqual({
      ...{ secret, source: `file ${path}` },
    });
  });

  it("is read from a file that nobody else can read, but for a group that systemd gives it", () => {
    const folder = temporaryFolder();
    const credentials = join(folder, "credentials");
    mkdirSync(credentials);
    const path = writeInto(credentials, "token", "s3cret");
    const settings = `{ token: { file: ${path} } }`;
    const yaml = `origins: { a.example: ${settings} }`;
    const env = { CREDENTIALS_DIRECTORY: credentials };
    chmodSync(path, 0o440);
    expect(origin(settings, env, folder)?.token?.secret).toBe("s3cret");
    for (const mode of [0o604, 0o640, 0o602, 0o444]) {
      chmodSync(path, mode);
      const from = mode === 0o444 ? env : {};
      const message = refusal(yaml, from, folder);
      expect(message).toContain(
        `which others can read (mode 0${mode.toString(8)}): run chmod 600 on it.`,
      );
      expect(message).not.toContain("s3cret");
    }
  });

  it.each([
    ["hunter2", "is text: expected { env: NAME } or { file: PATH }, because"],
    ["{}", "must be one of { env: NAME } and { file: PATH }"],
    ["{ env: A, file: b }", "must be one of"],
    [
      "{ env: UNSET }",
      "names the environment variable UNSET, which is not set",
    ],
    ["{ env: SPACED }", "is empty, or has spaces"],
    ["{ file: none }", "which cannot be read (ENOENT)"],
    ["{ file: empty }", "is empty, or has spaces"],
    ["{ evn: A }", 'unknown key "evn"'],
  ])("is refused as %s", (token, message) => {
    const yaml = `origins:\n  a.example: { token: ${token} }`;
    const folder = temporaryFolder();
    writeInto(folder, "empty", "\n");
    const refused = refusal(yaml, { SPACED: "two words", A: "x" }, folder);
    expect(refused).toContain("provender.yaml:2: ");
    expect(refused).toContain(message);
    expect(refused).not.toMatch(/two words|hunter2/);
  });
});
