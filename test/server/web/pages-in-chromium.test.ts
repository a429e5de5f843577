import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { onlyFor, status } from "../../fakes/faults.ts";
import { FakeModuleRegistry } from "../../fakes/module-registry.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { createSigner } from "../../fakes/signing.ts";
import { originsOf } from "../../origins.ts";
import { has } from "../../packaging/release.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { eventually, requestsFor } from "../../scenes/provider-requests.ts";

const canTest = await has("chromium", "the pages in a browser");
const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
/** Where pictures of the pages go, for people who look at them. */
const { PROVENDER_PICTURES: pictures } = process.env;

/** User id of a key; the pages must show it as text only. */
const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'&amp;\u202egnp`;
const provider = "registry.terraform.io/acme/demo";
const module = "modules.example.com/acme/net/aws";

const paths = [
  "/",
  "/browse",
  `/browse?q=${encodeURIComponent(`"><script>alert(3)</script>`)}`,
  `/browse?provider=${provider}`,
  `/browse?provider=registry.terraform.io/acme/unknown`,
  `/browse?module=${module}`,
  "/alarms",
  `/why/${provider}/1.1.0`,
];

describe.skipIf(!canTest)("the pages in a browser", () => {
  let registry: Registry;
  let modules: FakeModuleRegistry;
  let mirror: RunningMirror;
  let browser: Browser;

  beforeAll(async () => {
    const authority = await createAuthority();
    registry = await startRegistry({ authority });
    modules = await FakeModuleRegistry.start({ authority });
    const { origins } = originsOf(authority, registry);
    const [{ ca }] = Object.values(origins) as [{ ca: string }];
    const config = {
      origins: { ...origins, "modules.example.com": { url: modules.url, ca } },
      freshness: { versions: "1ms" },
      policy: {
        rules: [{ match: provider, action: "deny", versions: "< 1.0.0" }],
      },
    };
    mirror = await startMirror({ config });
    await fill(registry, modules, mirror);
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: ["--no-sandbox"],
    });
  });

  afterAll(async () => {
    await browser.close();
    await mirror.stop();
    await registry.stop();
    await modules.stop();
  });

  it.each(
    (["light", "dark"] as const).flatMap((scheme) =>
      [375, 1280].map((width) => ({ scheme, width })),
    ),
  )("are readable and inert: $scheme, $width px", async ({ scheme, width }) => {
    const context = await browser.newContext({
      colorScheme: scheme,
      viewport: { width, height: 900 },
      ignoreHTTPSErrors: true,
    });
    const page = await context.newPage();
    const leaks: string[] = [];
    page.on("console", (message) => leaks.push(message.text()));
    page.on("pageerror", ({ message }) => leaks.push(message));
    page.on("dialog", (dialog) => leaks.push(dialog.message()));
    page.on("request", (request) => {
      if (!request.url().startsWith(mirror.url)) leaks.push(request.url());
    });
    for (const [index, path] of paths.entries()) {
      const answer = await page.goto(new URL(path, mirror.url).href);
      expect(answer?.status(), path).toBe(200);
      expect(await findFaults(page), path).toEqual([]);
      expect(await page.content(), path).not.toContain(mirror.directory);
      if (pictures !== undefined) {
        const name = `${index}-${scheme}-${width}.png`;
        await page.screenshot({ path: join(pictures, name), fullPage: true });
      }
    }
    expect(leaks).toEqual([]);
    await context.close();
  });

  it("lead from one to the next, down to an archive's hashes, and find by a part of an address", async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(mirror.url);
    await page.getByRole("link", { name: "Browse", exact: true }).click();
    await page.getByLabel("Part of an address").fill("acme/de");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: provider }).click();
    const rows = await page.getByRole("row").allInnerTexts();
    expect(rows.join("\n")).toMatch(
      /1\.1\.0\s+candidate: key [0-9A-F]{40}, not known/,
    );
    expect(rows.join("\n")).toMatch(/0\.9\.0\s+denied by policy\.rules\[0\]/);
    expect(rows.join("\n")).toMatch(
      /1\.2\.0\s+without files at its registry since \d{4}-/,
    );
    await page.getByRole("link", { name: "1.0.0" }).click();
    const text = await page.getByRole("main").innerText();
    expect(text).toContain(`calls itself ${hostile.slice(0, 20)}`);
    expect(text).toMatch(
      /linux_amd64\s+stored, [\d.]+ K?i?B\s+zh:[0-9a-f]{64}\s+h1:/,
    );
    await page.getByRole("link", { name: "What do clients get?" }).click();
    await page.getByRole("link", { name: "Alarms" }).click();
    expect(await page.getByRole("main").innerText()).toContain(
      `provender trust approve ${provider}@1.1.0 `,
    );
    await context.close();
  });
});

/** One of everything that the pages show. */
async function fill(
  registry: Registry,
  modules: FakeModuleRegistry,
  mirror: RunningMirror,
): Promise<void> {
  const signer = await createSigner({ name: hostile, algorithm: "ed25519" });
  const release = { namespace: "acme", type: "demo", signer };
  for (const version of ["0.9.0", "1.0.0"])
    await registry.publish({ ...release, version });
  const requests = requestsFor(mirror, "demo", "acme");
  expect((await requests.archive("1.0.0")).status).toBe(200);
  await eventually(
    async () => (await requests.version("1.0.0")).body.toString(),
    (text) => text.includes("h1:"),
  );
  const stranger = await createSigner({
    name: "Stranger",
    algorithm: "ed25519",
  });
  await registry.publish({ ...release, version: "1.1.0", signer: stranger });
  expect((await requests.version("1.1.0")).status).toBe(451);
  await registry.publish({ ...release, version: "1.2.0" });
  registry.script("checksums", onlyFor(/1\.2\.0/, status(404)));
  expect((await requests.version("1.2.0")).status).toBe(404);
  const archive = await tarGz([["main.tf", "# net"]]);
  const url = modules.serve("/net.tar.gz", archive);
  modules.publish("acme/net/aws", "1.0.0", `${url}?token=canary&<script>`);
  const path = `/v1/modules/${module}/1.0.0`;
  expect((await mirror.get(`${path}/archive.tar.gz`)).status).toBe(200);
}

/** Finds serious faults of axe, and text out of reach at this width. */
async function findFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe, document } = globalThis as unknown as AxeWindow;
    const { violations } = await axe.run();
    const { scrollWidth, clientWidth } = document.documentElement;
    return { violations, isWider: scrollWidth > clientWidth };
  });
  const serious = found.violations.filter(({ impact }) =>
    ["serious", "critical"].includes(impact),
  );
  const faults = serious.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
  return found.isWider ? [...faults, "wider than the screen"] : faults;
}

interface AxeWindow {
  readonly axe: {
    run(): Promise<{
      readonly violations: readonly {
        readonly id: string;
        readonly impact: string;
        readonly nodes: readonly { readonly html: string }[];
      }[];
    }>;
  };
  readonly document: {
    readonly documentElement: {
      readonly scrollWidth: number;
      readonly clientWidth: number;
    };
  };
}
