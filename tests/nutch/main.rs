//! Files of Nutch and Hadoop. What would be lost without: the link to the programs that these formats are for.
//! No Nutch 0.4 can be run any more, so its bytes are held to the description of its formats, by hand; Hadoop's
//! are held to Hadoop.

mod alloc;
mod cli;
mod documented;
mod hadoop;
mod map;
mod records;
mod seed;
mod segment;
mod sequence;
mod support;
