// Bundles src/ into ../page.js and ../page.css, and collects the licences of what went into them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { context, build } from "esbuild";

const HERE = new URL(".", import.meta.url).pathname;
const OUT = new URL("../", import.meta.url).pathname;

/** SHA-256 over all that a build depends on; tests/viewer compares it without node. */
function sources() {
  const hash = createHash("sha256");
  const names = readdirSync(`${HERE}src`).sort().map((name) => `src/${name}`);
  for (const name of ["build.mjs", "package-lock.json", "tsconfig.json", ...names]) {
    hash.update(`${name}\0`).update(readFileSync(HERE + name)).update("\0");
  }
  return hash.digest("hex");
}

const options = {
  absWorkingDir: HERE,
  entryPoints: { page: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome109", "firefox115", "safari16.4"],
  charset: "ascii",
  outdir: OUT,
  legalComments: "none",
  metafile: true,
  logLevel: "info",
  jsx: "automatic",
  jsxImportSource: "preact",
  banner: { js: `/* sources ${sources()}; licences: page-licences.txt */` },
};

/** The licence files of every package that is in the bundle, in alphabetical order. */
function licences(inputs) {
  const names = new Set();
  for (const path of Object.keys(inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) names.add(found[1]);
  }
  const texts = [...names].sort().map((name) => {
    const folder = `${HERE}node_modules/${name}/`;
    const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE"].find((one) => existsSync(folder + one));
    if (!file) throw new Error(`${name} has no licence file`);
    const { version, license } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
    return `${name} ${version} (${license})\n\n${readFileSync(folder + file, "utf8").trim()}\n`;
  });
  return `What page.js is made of, beside our own sources.\n\n${texts.join(`\n${"-".repeat(72)}\n\n`)}`;
}

if (process.argv.includes("--watch")) {
  const running = await context(options);
  await running.watch();
} else {
  const result = await build(options);
  writeFileSync(`${OUT}page-licences.txt`, licences(result.metafile.inputs));
}
