// Runs one scenario: node run.mjs NAME ADDRESS TOKEN FOLDER
import { end } from './browser.mjs';
import * as acts from './acts.mjs';
import * as ledger from './ledger.mjs';
import * as looks from './looks.mjs';
import * as strangers from './public.mjs';

const scenario = { ...acts, ...ledger, ...looks, ...strangers }[process.argv[2]];
let code = 0;
try {
  if (!scenario) throw new Error(`no scenario ${process.argv[2]}`);
  await scenario();
} catch (error) {
  console.error(error.stack ?? String(error));
  code = 1;
}
await end();
process.exit(code);
