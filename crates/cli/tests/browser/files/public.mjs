// What strangers do.
import { api, base, check, visit } from './browser.mjs';

const latest = async () => (await api('GET', '/v1/submissions?pipeline=wishes')).submissions[0];

export const public_form = async () => {
  const { page, context, fine } = await visit();
  await page.goto(`${base}/public/wishes`);
  await page.getByRole('heading', { name: 'Make a wish' }).waitFor();
  await page.getByLabel('What you wish for').fill('A kite');
  await page.getByLabel('How many').fill('11');
  await page.getByLabel('Colour').selectOption('Red');
  await page.getByLabel('Friday').check();
  await page.getByRole('button', { name: 'Check first' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  check((await alert.getByRole('link').allTextContents()).join() === 'How many,I have read the rules', await alert.innerHTML());
  const count = page.getByLabel('How many');
  check(await count.inputValue() === '11' && await count.getAttribute('aria-invalid') === 'true', 'what was typed is kept, and marked');
  check(await page.getByLabel('What you wish for').inputValue() === 'A kite', 'what was fine is kept');
  check(await page.getByLabel('Friday').isChecked() && await page.getByLabel('Colour').inputValue() === '"r"', 'so is what was picked');
  await count.fill('2');
  await page.getByLabel('I have read the rules').check();
  await page.getByRole('button', { name: 'Check first' }).click();
  await page.getByText('Nothing is wrong with this so far').waitFor();
  check(!(await latest()), 'looking submits nothing');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.waitForURL(/\/public\/wishes\/receipts\/[A-Za-z0-9_-]{43}$/);
  await page.getByRole('status').getByText('Somebody is reading it').waitFor();
  const made = await latest();
  check(JSON.stringify(made).includes('wishes') && !page.url().includes(made.id), 'the address does not tell the id');
  const { payload } = await api('GET', `/v1/submissions/${made.id}`);
  check(JSON.stringify(payload) === JSON.stringify({ wish: 'A kite', count: 2, rules: true, colour: 'r', days: ['Friday'] }), JSON.stringify(payload));
  await page.evaluate(() => { window.untouched = true; });
  await api('POST', `/v1/submissions/${made.id}/actions/grant`, {});
  await page.getByRole('status').getByText('Your wish is granted').waitFor();
  await page.getByText('It is done.').waitFor();
  check(await page.evaluate(() => window.untouched), 'the page was not loaded anew');
  check(!(await page.locator('#live').getAttribute('hx-trigger')), 'what has ended is asked for no more');
  check((await context.cookies()).length === 0, 'nothing is kept in the browser');
  await page.getByRole('link', { name: 'Submit another one' }).click();
  await page.getByLabel('What you wish for').waitFor();
  fine();
};

export const public_form_without_scripts = async () => {
  const { page, fine } = await visit({ javaScriptEnabled: false });
  await page.goto(`${base}/public/wishes`);
  const wish = '</textarea>"><img src=x onerror=alert(1)> \u202Eevil \u0627';
  await page.getByLabel('What you wish for').fill(wish);
  await page.getByLabel('How many').fill('none');
  await page.getByLabel('The story behind it').fill(`${wish}\n${'x'.repeat(6000)}`);
  await page.getByRole('button', { name: 'Check first' }).click();
  await page.getByRole('alert').waitFor();
  check(await page.getByLabel('What you wish for').inputValue() === wish, 'it comes back as it was typed');
  check(await page.locator('main img, main script').count() === 0, 'and as text');
  await page.getByLabel('How many').fill('1');
  await page.getByLabel('The story behind it').fill('short');
  await page.getByLabel('I have read the rules').check();
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('status').getByText('Somebody is reading it').waitFor();
  const { id } = await latest();
  await api('POST', `/v1/submissions/${id}/actions/grant`, {});
  await page.reload();
  await page.getByText('It is done.').waitFor();
  fine();
};
