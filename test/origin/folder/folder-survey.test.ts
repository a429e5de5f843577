import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseHostname } from "../../../src/address/hostname.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { originLimits } from "../../../src/origin/guard/origin-settings.ts";
import { OriginFolder } from "../../../src/origin/folder/origin-folder.ts";
import { surveyFolder } from "../../../src/origin/folder/folder-survey.ts";
import { defaultSigner } from "../../fakes/signing.ts";
import {
  folderHost,
  makeDist,
  makeOriginFolder,
  putRelease,
} from "../../scenes/origin-folder.ts";

const hostname = parseHostname(folderHost);

async function survey(root: string, signal = new AbortController().signal) {
  const configuration = loadConfiguration({
    file: undefined,
    env: {},
    cwd: root,
  });
  const limits = originLimits(configuration.limits);
  const folder = new OriginFolder(root);
  return surveyFolder({ folder, limits, signed: true }, hostname, signal);
}

it("counts the releases of a folder and names incomplete ones, with what they lack", async () => {
  const root = makeOriginFolder(await defaultSigner());
  for (const version of ["1.0.0", "1.1.0", "1.2.0"])
    putRelease(root, await makeDist({ version }));
  const provider = join(root, "acme/widget");
  const signature = "terraform-provider-widget_1.1.0_SHA256SUMS.sig";
  rmSync(join(provider, "1.1.0", signature));
  mkdirSync(join(provider, "2.0.0"));
  mkdirSync(join(provider, "draft"));
  mkdirSync(join(root, "modules/acme/2.0.0"), { recursive: true });
  mkdirSync(join(root, "Acme/widget/2.0.0"), { recursive: true });
  const { unfit, ...rest } = await survey(root);
  expect(rest).toEqual({ releases: 2, isWhole: true });
  expect(new Map(unfit.map(({ path, reason }) => [path, reason]))).toEqual(
    new Map([
      [join(provider, "1.1.0"), `it has no ${signature}`],
      [
        join(provider, "2.0.0"),
        "it has no terraform-provider-widget_2.0.0_SHA256SUMS",
      ],
    ]),
  );
});

it("says that it has not seen all when the time was over", async () => {
  const root = makeOriginFolder(await defaultSigner());
  putRelease(root, await makeDist({ version: "1.0.0" }));
  expect(await survey(root, AbortSignal.abort())).toEqual({
    releases: 0,
    unfit: [],
    isWhole: false,
  });
});
