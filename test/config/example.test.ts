import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfiguration } from "../../src/config/load.ts";
import { configurationSchema, listKeys } from "../../src/config/schema.ts";
import { formatConfiguration } from "../../src/config/shown.ts";
import { load } from "./written.ts";

const file = fileURLToPath(
  new URL("../../config.example.yaml", import.meta.url),
);
const text = readFileSync(file, "utf8");
const from = { env: {}, cwd: "/", home: "/home/someone" };
const keys = [...listKeys(configurationSchema("/", from)).keys()];

describe("config.example.yaml", () => {
  const example = loadConfiguration({ file, ...from });

  it("equals the defaults, key by key", () => {
    const defaults = load("");
    expect({ ...example, source: undefined }).toEqual({
      ...defaults,
      source: undefined,
    });
    // Without a file, and with one that has each key.
    const [shown, fallback] = [file, undefined].map(
      (one) => parse(formatConfiguration(one, from)) as unknown,
    );
    expect(shown).toEqual(fallback);
  });

  it.each(keys)("names %s, commented or not, in its section", (key) => {
    const [top = "", ...rest] = key.split(".");
    const section = text
      .split(/^(?=[a-z])/m)
      .find((part) => part.startsWith(`${top}:`));
    const name = rest.at(-1);
    expect(section).toMatch(new RegExp(`\\b${name ?? top}:`));
  });

  it("has the sections in the order of the schema", () => {
    expect(Object.keys(parse(text) as object)).toEqual(
      keys.filter((key) => !key.includes(".")),
    );
  });

  it("has comments that are valid when they are uncommented, but for what they name", () => {
    const uncommented = text
      .replaceAll(/^( +)# ( *(?:-|[\w.]+:) ?.*)$/gm, "$1$2")
      .replace(/^ +(?:rules|keys|tokens): \[\].*$/gm, "")
      .replace(/^auth:\s+off.*$/m, "auth:")
      .replace("tls: self-signed", "tls: off")
      .replace("SHA256_OF_THE_TOKEN", "a".repeat(64))
      .replace(/^ +(?:ca|directory): .*$/gm, "");
    const parsed = configurationSchema("/", {
      ...from,
      env: { NAME: "secret" },
    }).parse(parse(uncommented));
    expect(parsed.trust.keys[0]?.fingerprints).toEqual([
      "C874011F0AB405110D02105534365D9472D7468F",
    ]);
    expect(parsed.policy.rules).toHaveLength(1);
    expect(parsed.auth.tokens).toHaveLength(1);
    expect(parsed.auth.oidc[0]?.audience).toBe("provender");
    expect(parsed.origins.size).toBe(3);
    expect(parsed.storage.s3?.bucket).toBe("provender-eu");
  });
});
