import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import {
  Authentication,
  indexTokens,
} from "../../../src/server/access/authentication.ts";
import { issueToken } from "../../client-token.ts";

const issued = Array.from({ length: 100 }, (_, at) => issueToken(`ci ${at}`));
const authentication = new Authentication(
  {
    tokens: indexTokens(
      issued.map(({ configured: { name, sha256 } }) => ({
        name,
        sha256: Buffer.from(sha256, "hex"),
        expires: undefined,
      })),
    ),
    issuers: [],
  },
  {
    keys: { secrets: [randomBytes(32), randomBytes(32)] },
    archiveUrls: 3_600_000,
    now: Date.now,
  },
);

const rounds = 5_000;

/** Measures the microseconds for one request, accepted or not. */
function cost(url: string, authorization?: string): number {
  const start = performance.now();
  for (let round = 0; round < rounds; round++)
    try {
      void authentication.admit({ url, headers: { authorization } });
    } catch {
      // Refused, as it should be.
    }
  return ((performance.now() - start) * 1000) / rounds;
}

it("takes no slow path for wrong tokens and URLs", () => {
  const folder = "/providers/registry.terraform.io/acme/widget/";
  const file = "terraform-provider-widget_1.0.0_linux_amd64.zip";
  const url = `${folder}index.json`;
  const good = () => cost(url, `Bearer ${issued[99]?.token}`);
  good();
  const right = good();
  const costs = {
    wrong: cost(url, `Bearer ${issueToken("x").token}`),
    none: cost(url),
    long: cost(url, `Bearer ${"x".repeat(15_000)}`),
    signature: cost(`${folder}1900000000000.x.${"A".repeat(43)}/${file}`),
    path: cost(`/${"1.a/".repeat(500)}${file}`),
  };
  console.info(
    `100 tokens: right ${right.toFixed(1)} µs, ${Object.entries(costs)
      .map(([name, each]) => `${name} ${each.toFixed(1)} µs`)
      .join(", ")}`,
  );
  for (const each of Object.values(costs))
    expect(each).toBeLessThan(20 * right + 200);
});
