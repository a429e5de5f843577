import { expect, it } from "vitest";
import { parse } from "yaml";
import { formatConfiguration } from "../../src/config/shown.ts";
import { load, temporaryFolder, writeInto } from "./written.ts";

it("shows what reads back to the same configuration, with the line of each value or that it is a default, and never a secret", () => {
  const folder = temporaryFolder();
  writeInto(folder, "token file", "s3cret-in-file");
  const env = {
    ...{ TOKEN: "s3cret-in-env", HTTPS_PROXY: "http://me:s3cret@p:1" },
    NO_PROXY: "a,\nb",
  };
  const text = `listen:
  tls: off
  port: 0
storage:
  directory: data
  minFree: 1500
  s3: { endpoint: http://127.0.0.1:9000/, bucket: abc, accessKeyId: id, secretAccessKey: { env: TOKEN } }
origins:
  a.example: { url: https://b.example:8443/, token: { env: TOKEN } }
  c.example:8443:
    token: { file: token file }
    signatures: off
platforms: [linux_amd64, windows_amd64]
policy:
  rules:
    - { match: a.example/b/*, action: deny, versions: "~> 1.2" }
    - match: a.example/b/c
      action: allow
      minimumAge: 7d
trust: { keys: [{ match: a.example/b/*, fingerprints: [${"A".repeat(40)}] }] }
auth:
  tokens: [{ name: ci, sha256: ${"a".repeat(64)}, expires: "2027-01-31T00:00:00.000Z" }]
  oidc:
    - { issuer: https://a.example/, audience: b, clientId: c }
    - { issuer: https://b.example/, audience: d, claims: { sub: ["acme:*"], hd: [a, b] } }
limits: { archive: 1500, connections: }
`;
  const file = writeInto(folder, "provender.yaml", text);
  const from = { env, cwd: "/", home: "/home/someone" };
  const shown = formatConfiguration(file, from);
  expect(load(shown, env, folder)).toEqual(load(text, env, folder));
  expect(parse(shown)).toMatchObject({
    origins: { "c.example:8443": { token: { file: "token file" } } },
    auth: { tokens: [{ name: "ci" }] },
    limits: { archive: 1500, connections: 4096 },
  });
  expect(shown).not.toContain("s3cret");
  const lines = shown.split("\n").map((line) => line.trim());
  expect(lines).toEqual(
    expect.arrayContaining([
      `# ${file}`,
      "# HTTPS_PROXY: http://p:1",
      "# NO_PROXY: a, b",
      "host: 127.0.0.1 # default",
      "port: 0 # line 3",
      "env: TOKEN # line 7",
      "signatures: off # line 12",
      "- windows_amd64 # line 13",
      "minimumAge: 7d # line 19",
      "connections: 4096 # default",
    ]),
  );
});

it("shows the defaults where there is no file", () => {
  const from = { env: { STATE_DIRECTORY: "/data" }, cwd: "/", home: "/" };
  const shown = formatConfiguration(undefined, from);
  expect(shown).toMatch(/^# no file: built-in defaults\n/);
  expect(shown).toContain("directory: /data # default\n");
});
