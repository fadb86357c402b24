// How every browser test starts its browser: Debian's Chromium, which playwright-core only drives.
import { chromium } from "playwright-core";

// As root, as in most containers, Chromium has no sandbox to offer. The other flags keep it from calling home: on a
// machine without the Internet its attempts are slow, and a test should not depend on them anywhere.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Opens a browser with a new, empty profile; the caller closes it. */
export function openBrowser() {
  const executablePath = process.env.PUNK_TEST_CHROMIUM;
  if (!executablePath) {
    throw new Error("PUNK_TEST_CHROMIUM is not set: run `cargo xtask test browser`");
  }
  return chromium.launch({ executablePath, args: FLAGS });
}
