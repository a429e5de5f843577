import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  it,
  vi,
} from "vitest";
import { runImport } from "../../../src/commands/packages/import.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { SignatureThreads } from "../../../src/verification/signatures.ts";
import {
  wireBundleLimits,
  openMirror,
} from "../../../src/wiring/commands/store.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import {
  connectedSite,
  exportBundle,
  offlineSite,
  type Site,
} from "./bundles.ts";

const versions = ["1.0.0", "1.1.0", "1.2.0"];
const specs = versions.map((version) => `acme/widget@${version}`);

let registry: Registry;
let site: Site;
let small: string;
let large: string;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  const platforms = ["linux_amd64", "darwin_arm64"];
  for (const version of versions)
    await registry.publish({ version, platforms, size: 3_000 });
  const from = connectedSite(authority, registry);
  const [linux, darwin] = platforms.map((name) => ["--platform", name]);
  small = await exportBundle(from, ...(linux ?? []), ...specs);
  const both = [...(linux ?? []), ...(darwin ?? [])];
  large = await exportBundle(from, ...both, ...specs);
  site = offlineSite();
});

afterEach(() => vi.restoreAllMocks());
afterAll(() => registry.stop());

/** How many signatures an import decides on, which is what judging costs. */
async function countDecisions(file: string) {
  const decided = vi.spyOn(SignatureThreads.prototype, "decide").mockClear();
  const configuration = loadConfiguration({ file: site.configFile });
  const core = await openMirror(configuration, "a test");
  const printed: string[] = [];
  const limits = wireBundleLimits(configuration);
  const { signal } = new AbortController();
  const status = await runImport(core, { file, limits, signal }, (text) =>
    printed.push(text),
  );
  await core.close();
  // A line for each, what vouches for the names, and the sum.
  expect([status, printed.length]).toEqual([0, versions.length + 2]);
  return decided.mock.calls.length / versions.length;
}

describe("an import", () => {
  it("begins the ledger where no key is noted, so that what it brought is not taken for what outlived a lost one", async () => {
    const unsigned = offlineSite({ origin: { signatures: "off" } });
    const first = await unsigned.run("import", small);
    const again = await unsigned.run("import", small);
    expect([first.status, again.status]).toEqual([0, 0]);
  });

  it("judges what is carried once and what is stored once, however often it looks whether that changed", async () => {
    expect({
      "of what is not known": await countDecisions(small),
      "of what is stored": await countDecisions(small),
      "of more of what is stored": await countDecisions(large),
    }).toEqual({
      "of what is not known": 1,
      "of what is stored": 2,
      "of more of what is stored": 2,
    });
  });
});
