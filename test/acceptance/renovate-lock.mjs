// Runs Renovate's own lock-file update. Arguments: the folder of its package, and a JSON document with what it is to do.
import { join } from "node:path";

const [, , folder = "", text = "{}"] = process.argv;
const { directory, cache, registryUrls, hostRules, updates } = JSON.parse(text);
const load = (path) => import(join(folder, "dist", path));

const { GlobalConfig } = await load("config/global.js");
const { add } = await load("util/host-rules.js");
const { updateArtifacts } = await load(
  "modules/manager/terraform/lockfile/index.js",
);
GlobalConfig.set({ localDir: directory, cacheDir: cache });
for (const rule of hostRules) add(rule);
const updatedDeps = updates.map((one) => ({
  ...{ depType: "required_provider", datasource: "terraform-provider" },
  ...{ versioning: "hashicorp", registryUrls, ...one },
}));
const results = await updateArtifacts({
  ...{ packageFileName: "main.tf", updatedDeps, config: {} },
  newPackageFileContent: "",
});
process.stdout.write(`RESULT ${JSON.stringify(results)}\n`);
