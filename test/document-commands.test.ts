import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findClients } from "./acceptance/clients.ts";
import { has } from "./packaging/release.ts";
import {
  makeDocumentedWorld,
  type DocumentedWorld,
} from "./scenes/documented-world.ts";
import { documents, listShellCommands } from "./scenes/documents.ts";

/** Commands that are not run here, by their beginning, and the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  "npm ci":
    "sets the project up, for hours of tests with it: what runs this test did",
  "npm run":
    "test/demo.test.ts and test/soak.test.ts run what is short; CI runs check and test",
  "npm test": "it runs this",
  "sudo npm install --global": "test/pack.test.ts runs what npm packs",
  "sudo apt install":
    "test/packaging/deb.test.ts installs it in roots of Debian",
  "sudo dnf install":
    "test/packaging/rpm.test.ts installs it with rpm; Debian has no dnf",
  "journalctl ": "needs systemd",
  "systemctl ": "needs systemd; test/systemd.test.ts reads the unit",
  "sudo systemctl ": "needs systemd",
  'sudo cp "$(npm root --global)':
    "writes to the machine's units; test/pack.test.ts finds the file",
  "skopeo copy":
    "needs an engine or a registry; test/packaging/image.test.ts reads the image with skopeo",
  "oras cp":
    "needs a registry of OCI artifacts: test/acceptance/oci-registry.test.ts has one",
  "install -D ":
    "wants a release of yours; test/origin/folder/folder-providers.test.ts puts one there",
  "mkdir -p /srv/providers":
    "writes to the machine: test/origin/folder/folder-providers.test.ts makes such a folder",
  "gpg --armor --export FINGERPRINT": "wants a key of yours",
  "cp terraform-registry-manifest.json":
    "wants a provider of yours; test/scenes/origin-folder.ts makes its dist so",
  "terraform login":
    "needs a person: test/acceptance/client-matrix.test.ts logs in with a scripted one",
};

/** The last one revokes a key, and what it signed is refused from then on. */
const last = "docs/decisions.md";
const inOrder = [...documents.filter((path) => path !== last), last];
const commands = inOrder.flatMap((document) =>
  listShellCommands(document).map((command) => ({ document, command })),
);
const isElsewhere = (command: string) =>
  Object.keys(elsewhere).some((begin) => command.startsWith(begin));
const here = commands.filter(({ command }) => !isElsewhere(command));

const clients = await findClients();
const missing = [
  ...(clients.some(({ name }) => name === "terraform") ? [] : ["terraform"]),
  ...((await has("jq", "the commands of the documents with jq")) ? [] : ["jq"]),
];

let world: DocumentedWorld;

beforeAll(async () => {
  world = await makeDocumentedWorld();
});

afterAll(() => world.stop());

describe("the commands of the documents", () => {
  it.each(here)("$document: $command", async ({ document, command }) => {
    if (missing.some((program) => command.includes(`${program} `))) return;
    const { status, printed } = await world.run(document, command);
    expect(status, printed).toBe(0);
  });

  it("are run here, but for those that each have a reason", () => {
    const unused = Object.keys(elsewhere).filter(
      (begin) => !commands.some(({ command }) => command.startsWith(begin)),
    );
    expect(unused).toEqual([]);
    const named =
      Object.values(elsewhere)
        .join("\n")
        .match(/test\/\S+\.ts/g) ?? [];
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});
