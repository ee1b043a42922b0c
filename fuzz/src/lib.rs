//! Parts that several fuzz targets share.

mod pieces;

pub use pieces::Pieces;
