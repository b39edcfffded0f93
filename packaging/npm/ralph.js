#!/usr/bin/env node
// Starts the program for this machine. npm installed it beside this package.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `ralph-loop-${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${name}/bin/ralph`);
  } catch {
    const machine = `${process.platform} ${process.arch}`;
    const hint =
      process.platform === "win32"
        ? "ralph runs in WSL: install it there"
        : `install it without --omit=optional, or by itself: npm install ${name}`;
    console.error(`error: there is no ralph for ${machine} (package \`${name}\`)\nhint: ${hint}`);
    process.exit(2);
  }
}

const path = program();
const args = process.argv.slice(2);

// Where node can, it becomes the program: nothing stands between it and its signals.
if (process.execve) {
  process.removeAllListeners("warning");
  process.on("warning", () => {});
  try {
    process.execve(path, [path, ...args], process.env);
  } catch {
    // Not here: a child does as well.
  }
}

const child = spawn(path, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1"]) {
  // A terminal sends SIGINT and SIGQUIT to the program itself; a second one would count as a second wish.
  process.on(signal, () => {
    if (!(process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT"))) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`error: cannot start ${path}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
