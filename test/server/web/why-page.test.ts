import { expect, it } from "vitest";
import type { Why } from "../../../src/mirror/why/why.ts";
import { runHere } from "../../running-here.ts";
import { startMirror } from "../../running-mirror.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import {
  cases,
  host,
  onFullDisk,
  startWhyScene,
} from "../../scenes/why-scene.ts";

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

it.each(everyCase)(
  "of $title the page and explain tell the cause",
  async ({ path, code, says, headline, mirror }) => {
    const answer = await mirror.get(`/why/${path}`, asJson);
    expect(answer.headers["content-type"]).toBe("application/json");
    const why = answer.json() as Why;
    expect(why.reasons.join("\n")).toMatch(says);
    expect(why.code).toBe(code ?? null);
    if (headline !== undefined) expect(why.headline).toMatch(headline);
    expect(why.verdict === "served").toBe(code === undefined);
    const page = await mirror.get(`/why/${path}`);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const text = unescaped(page.body.toString());
    expect(untimed(text)).toContain(untimed(why.headline));
    if (why.verdict !== "failing")
      for (const reason of why.reasons)
        expect(untimed(text)).toContain(`<li>${untimed(reason)}`);
    expect(text).not.toMatch(/\/tmp\/|<script/);
    const spec = path.replace(/\/(?=\d[^/]*$)/, "@");
    const { url, caFile } = mirror;
    const named = ["--mirror", url, "--ca", caFile, "--json"];
    const run = await runHere(["explain", spec, ...named]);
    expect(run.stderr).toBe("");
    const printed = JSON.parse(untimed(run.stdout)) as Why;
    const told = JSON.parse(untimed(answer.body.toString())) as Why;
    const { subject, verdict, headline: head } = told;
    expect(printed).toMatchObject({ subject, verdict, headline: head });
    // A host that fails on and on is suspended at some time.
    if (verdict !== "failing")
      expect(printed).toMatchObject({ code: told.code, reasons: told.reasons });
    expect(run.status).toBe(code === undefined ? 0 : 1);
  },
);

it("explain tells the same from the store beside the daemon", async () => {
  const { mirror } = scene;
  const run = await runCommand(mirror, "explain", "acme/tampered@1.0.0");
  const path = `${host}/acme/tampered/1.0.0`;
  const why = (await mirror.get(`/why/${path}`, asJson)).json() as Why;
  expect(run.stdout).toBe(
    [
      `${host}/acme/tampered 1.0.0: This mirror refuses it (archive-digest).\n`,
      ...why.reasons.map((reason) => `${reason}\n`),
    ].join("- "),
  );
  expect(run.status).toBe(1);
});

it("tells that an offline mirror does not hold it", async () => {
  const offline = await startMirror({ config: { offline: true } });
  const answer = await offline.get(`/why/${host}/acme/partly`, asJson);
  const absent = { verdict: "absent", code: "not-stored" };
  expect(answer.json()).toMatchObject(absent);
});

it.each([
  ["registry.terraform.io/a", 404],
  [`${host}/<b>/c`, 400],
])("is no page for what is no address: %s", async (path, status) => {
  expect((await scene.mirror.get(`/why/${path}`)).status).toBe(status);
});
