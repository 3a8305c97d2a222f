//! Declares the enum of all experiments' data from one table.

/// Declares `Data`, one variant for each line `"name" => Variant(Type)`. The name is the one in run files and
/// on the command line.
macro_rules! data_enum {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($data:ty),)*) => {
        /// The data of one experiment.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "experiment")]
        pub enum Data {
            $($(#[$doc])* #[serde(rename = $name)] $variant($data),)*
        }

        impl Data {
            /// The experiment's name, e.g. `open-units`.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Whether this shows how fast a device is, and not how it is built.
            #[must_use]
            pub fn is_of_speed(&self) -> bool {
                self.facts().is_of_speed()
            }

            /// What the data says of itself, as all experiments do.
            #[must_use]
            pub const fn facts(&self) -> &dyn crate::observation::experiment_data::ExperimentData {
                match self {
                    $(Self::$variant(data) => data,)*
                }
            }
        }
    };
}

pub(crate) use data_enum;
