import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import InboxRow from '../../../src/features/settings/rows/InboxRow.svelte';
import { pathFault } from '../../../src/state/hub/inbox-path';
import { TypedFields } from '../../../src/state/settings/typed-fields.svelte';

describe('the path of the inbox note', () => {
  it.each([
    ['inbox/Inbox.md', null],
    ['Eingang.MD', null],
    ['', 'empty'],
    ['inbox/Inbox', 'not_markdown'],
    ['inbox/', 'reserved'],
    ['/home/anna/Inbox.md', 'outside'],
    ['C:/Inbox.md', 'outside'],
    ['../Inbox.md', 'outside'],
    ['.obsidian/Inbox.md', 'hidden'],
    ['inbox/.md', 'hidden'],
    ['con.md', 'reserved'],
    ['inbox/what?.md', 'reserved'],
    ['inbox\\Inbox.md', 'reserved'],
  ])('%j has the fault %s', (path, fault) => {
    expect(pathFault(path)).toBe(fault);
  });
});

describe('the field for the inbox note', () => {
  it('saves a path, and tells the fault of another', async () => {
    const onsave = vi.fn(() => Promise.resolve(null));
    render(InboxRow, { note: 'inbox/Inbox.md', typed: new TypedFields(), onsave });
    const keys = userEvent.setup();
    const field = screen.getByRole('textbox', { name: 'Inbox note' });
    await keys.clear(field);
    await keys.type(field, '.trash/Inbox.md{Tab}');
    expect(field).toHaveAccessibleDescription(/hidden/);
    expect(field).toBeInvalid();
    expect(field).toHaveValue('.trash/Inbox.md');
    expect(onsave).not.toHaveBeenCalled();
    await keys.clear(field);
    await keys.type(field, 'Notes/Inbox.md{Tab}');
    expect(field).toBeValid();
    expect(onsave).toHaveBeenCalledWith('Notes/Inbox.md');
  });
});
