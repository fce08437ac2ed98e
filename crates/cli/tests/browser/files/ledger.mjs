// The pages of the ledger system: what is under way, what waits, and a pause.
import { api, base, check, signIn, until, visit } from './browser.mjs';
import { LOOKS, inspect, wrong } from './looks.mjs';

const SERVICE = 'grain-coast::mill';
const PAUSED = 'grain-coast::dock';
const header = (digit) => digit.repeat(128);

const batch = (service, digit, dcid) => ({ payload: { service_id: service, batch_header: header(digit), data_change_id: dcid, serialized_batch: 'CgMKAQ==' } });

export const ledger = async () => {
  const batches = [...'abcd'].map((digit) => batch(SERVICE, digit, `dcid:flour-${digit}`));
  batches.push({ payload: { batch_header: header('e'), serialized_batch: 'CgMKAQ==' } });
  const { results } = await api('POST', '/v1/pipelines/ledger-batch/submissions', { submissions: batches });
  const first = results[0].submission.id;
  await until(async () => (await api('GET', `/v1/submissions/${first}`)).error, 'the first batch is delayed');
  const { page, fine } = await visit();
  await signIn(page);
  await page.getByRole('link', { name: 'Services', exact: true }).click();
  await page.getByRole('heading', { name: 'Services of ledgers' }).waitFor();
  check(await page.locator('nav a[aria-current]').textContent() === 'Services', 'the page keeps its place in the navigation');
  await page.getByRole('link', { name: SERVICE }).click();
  await page.getByText('dcid:flour-b').waitFor();
  check((await page.locator('tbody tr td:first-child').allTextContents()).join() === '1,2,3', 'those in line have their places');

  // A pause of a service that has nothing yet: it stays in the list, and what comes waits.
  await page.goto(`${base}/console/ledger/services/${encodeURIComponent(PAUSED)}`);
  await page.getByLabel('Reason').fill('the keys are being changed');
  await page.getByLabel('For').fill('a while');
  await page.getByRole('button', { name: 'Pause this service' }).click();
  await page.getByRole('alert').waitFor();
  check(await page.getByLabel('Reason').inputValue() === 'the keys are being changed', 'what was written is not lost');
  await page.getByLabel('For').fill('2h');
  await page.getByRole('button', { name: 'Pause this service' }).click();
  await page.getByText('The service is paused.').waitFor();
  const held = await api('POST', '/v1/pipelines/ledger-batch/submissions', batch(PAUSED, 'f', 'dcid:rope'));
  // The page is read again by itself.
  await page.getByText('dcid:rope').waitFor();
  await page.locator('.why-box').getByText('the keys are being changed').waitFor();

  for (const [look, options] of Object.entries(LOOKS)) {
    const other = await visit({ ...options, bypassCSP: false });
    await signIn(other.page);
    for (const [name, path] of [['services', ''], ['service', `/${SERVICE}`], ['service-paused', `/${PAUSED}`], ['service-plain', '/----']]) {
      await other.page.goto(`${base}/console/ledger/services${path}`, { waitUntil: 'load' });
      await inspect(other.page, `ledger-${name}`, look);
    }
    other.fine();
  }
  check(!wrong.length, wrong.join('\n'));

  await page.getByRole('button', { name: 'Release' }).click();
  await page.getByText('The pause is over.').waitFor();
  await until(async () => (await api('GET', `/v1/submissions/${held.id}`)).state !== 'QUEUED', 'the batch goes');
  fine();
};
