/** The icon for a kind of change to a note or folder. */
import type { ChangeKind } from '../../ipc/bindings';
import type { IconName } from '../../shared/components/icons';

export function changeIcon(kind: ChangeKind): IconName {
  switch (kind) {
    case 'create':
    case 'replace':
      return 'note';
    case 'rename':
    case 'rename_folder':
      return 'move';
    case 'make_folder':
    case 'restore_folder':
      return 'folder';
    case 'trash':
    case 'trash_folder':
      return 'trash';
    default:
      return kind satisfies never;
  }
}
