import { expect, it } from "vitest";
import { parseHostname } from "../../../src/address/hostname.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { failing } from "../../scenes/failing.ts";
import { OriginFolder } from "../../../src/origin/folder/origin-folder.ts";
import { FolderProviders } from "../../../src/origin/folder/folder-providers.ts";
import { defaultSigner } from "../../fakes/signing.ts";
import { limits, never } from "../clients.ts";
import {
  folderHost,
  makeDist,
  makeOriginFolder,
  putRelease,
} from "../../scenes/origin-folder.ts";

it("says that a folder takes too long, and goes on with what is not read yet when it is asked again", async () => {
  const root = makeOriginFolder(await defaultSigner());
  const count = 40;
  for (let patch = 0; patch < count; patch++)
    await putRelease(root, await makeDist({ version: `1.0.${patch}` }));
  const stop = new AbortController();
  const read: string[] = [];
  const folder = new (class extends OriginFolder {
    override read(parts: readonly string[], most: number) {
      read.push(parts.join("/"));
      if (read.length === 20) stop.abort();
      return super.read(parts, most);
    }
  })(root, parseHostname(folderHost));
  const onUnfit = () => undefined;
  const parts = { folder, limits, signed: true, onUnfit };
  const providers = new FolderProviders(parts);
  const widget = providerAddress(parseHostname(folderHost), "acme", "widget");
  const listing = providers.listVersions(widget, stop.signal);
  await expect(listing).rejects.toThrow(failing("origin-timeout"));
  expect(read.length).toBeLessThan(2 * count);
  const { versions } = await providers.listVersions(widget, never);
  expect(versions).toHaveLength(count);
  expect(new Set(read).size).toBe(read.length);
});
