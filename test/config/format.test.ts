import { expect, it } from "vitest";
import { parse } from "yaml";
import {
  formatConfiguration,
  type Configuration,
} from "../../src/config/load.ts";
import { configurationSchema } from "../../src/config/schema.ts";
import { load, temporaryFolder, writeInto } from "./written.ts";

it("writes what reads back to the same configuration", () => {
  const folder = temporaryFolder();
  writeInto(folder, "token", "s3cret-in-file");
  const env = { TOKEN: "s3cret-in-env", HTTPS_PROXY: "http://me:s3cret@p:1" };
  const configuration = load(
    [
      "listen: { port: 0, tls: { certificate: a.crt, key: a.key } }",
      "origins:",
      "  a.example: { url: 'https://b.example:8443/', token: { env: TOKEN } }",
      "  c.example:8443: { token: { file: token }, signatures: off }",
      "limits: { rate: 1500, answer: 1500ms, stop: 0 }",
    ].join("\n"),
    env,
    folder,
  );
  const written = formatConfiguration(configuration);
  expect(load(written, env, folder)).toEqual(configuration);
});

it("writes where secrets come from, and never the secrets", () => {
  const folder = temporaryFolder();
  const path = writeInto(folder, "token file", "s3cret-in-file");
  const env = { TOKEN: "s3cret-in-env", HTTPS_PROXY: "http://me:s3cret@p:1" };
  const written = formatConfiguration(
    load(
      "origins: { a.example: { token: { env: TOKEN } }, b.example: { token: { file: token file } } }",
      env,
      folder,
    ),
  );
  expect(parse(written)).toMatchObject({
    origins: {
      "a.example": { token: { env: "TOKEN" } },
      "b.example": { token: { file: path } },
    },
  });
  expect(written).toContain(`# ${folder}/provender.yaml\n`);
  expect(written).toContain("# HTTPS_PROXY: http://p:1\n");
  expect(written).not.toContain("s3cret");
});

it("writes rules, pins, tokens and bounds in the form in which they are read", () => {
  const schema = configurationSchema("/", {
    env: { SECRET: "s3cret" },
    cwd: "/",
    home: "/",
  });
  const full = {
    listen: { tls: "off" },
    storage: {
      directory: "/data",
      maxSize: "200GiB",
      minFree: 1500,
      s3: {
        endpoint: "http://127.0.0.1:9000/",
        bucket: "abc",
        region: "eu",
        prefix: "p/q/",
        addressing: "virtual-host",
        accessKeyId: "id",
        secretAccessKey: { env: "SECRET" },
      },
    },
    platforms: ["linux_amd64"],
    policy: {
      rules: [
        { match: "a.example/b/*", action: "deny", versions: "~> 1.2" },
        { match: "a.example/b/c", action: "allow", minimumAge: "7d" },
      ],
    },
    trust: {
      keys: [{ match: "a.example/b/*", fingerprints: ["A".repeat(40)] }],
    },
    auth: {
      tokens: [
        {
          name: "ci",
          sha256: "a".repeat(64),
          expires: "2027-01-31T00:00:00.000Z",
        },
      ],
      oidc: [
        { issuer: "https://a.example/", audience: "b", clientId: "c" },
        {
          issuer: "https://b.example/realm/",
          audience: "d",
          claims: { sub: ["acme:*"], hd: ["acme.example", "a.example"] },
        },
      ],
    },
    origins: { "a.example": { url: "https://b.example/" } },
  };
  const configuration: Configuration = {
    ...schema.parse(full),
    proxy: { https: undefined, no: undefined },
    notify: { socket: undefined, watchdogMs: undefined },
    searchPath: "/bin",
    source: undefined,
  };
  const written = formatConfiguration(configuration);
  expect(parse(written)).toMatchObject(full);
  expect(written).toContain("# no file: built-in defaults\n");
});
