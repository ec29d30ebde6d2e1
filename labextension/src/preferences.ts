import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ISignal, Signal } from '@lumino/signaling';

/** What a person can switch off (schema/settings.json). */
export type Preference = 'markFollowups' | 'coldLine' | 'statusItem';

/** A person's choices; everything is on until they are loaded, and where there are no settings. */
export class Preferences {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get(preference: Preference): boolean {
    return this._settings?.get(preference).composite !== false;
  }

  /** Take over the settings that the registry has loaded. */
  use(settings: ISettingRegistry.ISettings): void {
    this._settings = settings;
    settings.changed.connect(() => {
      this._changed.emit();
    }, this);
    this._changed.emit();
  }

  private _settings: ISettingRegistry.ISettings | null = null;
  private readonly _changed = new Signal<this, void>(this);
}
