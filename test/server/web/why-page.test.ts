import { describe, expect, it } from "vitest";
import { bearer } from "../../client-token.ts";
import { runHere } from "../../running-here.ts";
import { outcomeOf, runCommand } from "../../scenes/provider-requests.ts";
import {
  cases,
  host,
  onFullDisk,
  tokens,
  startWhyScene,
} from "../../scenes/why-scene.ts";

interface WhyDocument {
  readonly version: number;
  readonly subject: string;
  readonly verdict: string;
  readonly headline: string;
  readonly code: string | null;
  readonly reasons: readonly string[];
}

const asJson = { headers: { Accept: "application/json" } };

const scene = await startWhyScene();

function unescaped(html: string): string {
  return html.replaceAll("&quot;", '"').replaceAll("&gt;", ">");
}

/** Times go on. */
function untimed(text: string): string {
  return text.replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, "THEN");
}

const everyCase = [
  ...cases.map((one) => ({ ...one, mirror: scene.mirror })),
  { ...onFullDisk, mirror: scene.full },
];

describe.each(everyCase)("of $title", (row) => {
  it("the page and explain tell the cause", async () => {
    const { path, code, says, headline, mirror } = row;
    const answer = await mirror.get(`/why/${path}`, asJson);
    expect(answer.headers["content-type"]).toBe("application/json");
    const why = answer.json() as WhyDocument;
    expect(why.reasons.join("\n")).toMatch(says);
    expect(why.code).toBe(code ?? null);
    if (headline !== undefined) expect(why.headline).toMatch(headline);
    expect(why.verdict === "served").toBe(code === undefined);
    const page = await mirror.get(`/why/${path}`);
    expect(page.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringContaining(
        "default-src 'none'",
      ) as string,
      "cache-control": "no-store",
    });
    const text = unescaped(page.body.toString());
    expect(untimed(text)).toContain(untimed(why.headline));
    if (why.verdict !== "failing")
      for (const reason of why.reasons)
        expect(untimed(text)).toContain(`<li>${untimed(reason)}`);
    expect(text).not.toMatch(/canary|\/tmp\/|<script/);
    const spec = path.replace(/\/(?=\d[^/]*$)/, "@");
    const { url, caFile } = mirror;
    const named = ["--mirror", url, "--ca", caFile, "--json"];
    const run = await runHere(["explain", spec, ...named]);
    expect(run.stderr).toBe("");
    const printed = JSON.parse(run.stdout) as WhyDocument;
    expect([
      printed.subject,
      printed.verdict,
      untimed(printed.headline),
    ]).toEqual([why.subject, why.verdict, untimed(why.headline)]);
    // A host that fails on and on is suspended at some time.
    if (why.verdict !== "failing")
      expect([printed.code, ...printed.reasons.map(untimed)]).toEqual([
        why.code,
        ...why.reasons.map(untimed),
      ]);
    expect(run.status).toBe(code === undefined ? 0 : 1);
  });
});

it.each([
  ["held", "1.1.0", "key-refused"],
  ["tampered", "1.0.0", "archive-digest"],
])(
  "explain tells the same of %s from the store beside the daemon",
  async (type, version, code) => {
    const { mirror } = scene;
    const path = `${host}/acme/${type}/${version}`;
    const run = await runCommand(mirror, "explain", `acme/${type}@${version}`);
    const why = (
      await mirror.get(`/why/${path}`, asJson)
    ).json() as WhyDocument;
    expect(run.stdout).toBe(
      [
        `${host}/acme/${type} ${version}: This mirror refuses it (${code}).\n`,
        ...why.reasons.map((reason) => `${reason}\n`),
      ].join("- "),
    );
    expect(run.status).toBe(1);
  },
);

it.each([
  ["recreated-early", "451 checksum-conflict"],
  ["broken", "502 origin-status"],
  ["tampered", "451 archive-digest"],
])("a client of %s gets what was told", async (type, outcome) => {
  const archive = `terraform-provider-${type}_1.0.0_linux_amd64.zip`;
  const path = `/providers/${host}/acme/${type}/${archive}`;
  expect(outcomeOf(await scene.mirror.get(path))).toBe(outcome);
});

it("a large archive that came wrong is cut once, and refused at once from then on", async () => {
  const archive = "terraform-provider-tampered-later_1.0.0_linux_amd64.zip";
  const path = `/providers/${host}/acme/tampered-later/${archive}`;
  const first = await scene.mirror.get(path);
  expect([first.status, first.complete]).toEqual([200, false]);
  scene.registry.requests.clear();
  expect(outcomeOf(await scene.mirror.get(path))).toBe("451 archive-digest");
  expect(scene.registry.requests.count("archive")).toBe(0);
});

describe("with authentication on", () => {
  const path = `/why/${host}/acme/partly`;

  it("tells with the token that an offline mirror does not hold it", async () => {
    const { headers } = bearer(tokens.good.token);
    const answer = await scene.guarded.get(path, {
      headers: { ...headers, ...asJson.headers },
    });
    const why = answer.json() as WhyDocument;
    expect([why.verdict, why.code]).toEqual(["absent", "not-stored"]);
    expect(answer.body.toString()).not.toContain("canary");
  });
});

it.each(["registry.terraform.io/a", "a/b/c/d/e/1.0.0", `${host}/<b>/c`])(
  "is no page for what is no address: %s",
  async (path) => {
    expect((await scene.mirror.get(`/why/${path}`)).status).toBeGreaterThan(
      399,
    );
  },
);
